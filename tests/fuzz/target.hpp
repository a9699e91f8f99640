#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What reads text from outside, one entry for each kind of text: what libFuzzer, the short run of the tests
/// and the regression inputs all run (docs/reliability.md).
namespace ringside::fuzz {

struct Target {
  std::string_view name;
  /// Reads the text and does with it what commands do. Throws Error for text that is refused.
  void (*run)(std::string_view text) = nullptr;
};

std::span<const Target> yaml_targets();
std::span<const Target> log_targets();
std::span<const Target> machine_log_targets();
std::span<const Target> table_targets();
std::span<const Target> lab_targets();
std::span<const Target> message_targets();
std::span<const Target> schedule_targets();

std::vector<Target> all_targets();

/// What would have ended the program with exit status 70, or nothing: refusal and lack of memory are fine.
std::optional<std::string> fault_of(const Target& target, std::string_view text);

/// A fault of ours: what was read is not what was written, or no value that there can be.
class WrongReading : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
void require(bool holds, const std::string& what);

/// The text as a file, in a folder of this process that it leaves empty.
std::filesystem::path as_file(std::string_view text);

/// Folder of the sources.
std::filesystem::path source_folder();

}  // namespace ringside::fuzz
