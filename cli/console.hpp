#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

/// What the commands share in talking to people. Only cli/ prints.
namespace ringside::cli {

/// A table as text: columns aligned, numbers (columns whose header starts with '>') to the right.
std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);

/// Stages and progress on standard error: a bar that redraws itself on a terminal, one line per stage elsewhere.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Starts a stage: `calibrating this machine`.
  void stage(std::string_view what);
  /// `fraction` of the stage is done, 0 … 1; `what` is going on now.
  void update(double fraction, std::string_view what);
  /// Ends the stage and clears the bar.
  void finish();
  /// A line that stays.
  void note(std::string_view text);

 private:
  bool quiet_;
  bool terminal_;
  bool bar_shown_ = false;
  std::string stage_;
};

void print(std::string_view text);
void print_line(std::string_view text = {});

/// Once, at the end: everything printed is out. All three throw Error{environment} with the system's reason when it cannot be
/// written, a full disk for example.
void finish_output();

}  // namespace ringside::cli
