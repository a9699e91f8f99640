#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file_descriptor.hpp"
#include "common/names.hpp"
#include "results/codec/record.hpp"
#include "results/point.hpp"

/// The append-only file of one run. Every record is in the file, in one write, before append() returns, so
/// that a run killed at any moment leaves all it had finished (losing power may cost the last seconds).
namespace ringside {

struct ResumedJournal;
struct ResumeRequest;

/// Before Journal::create(): moves a file with measurements outside `points`, or no journal, to
/// `results-2026-11-21T20-23-14Z.jsonl` by its last change. Returns that path; nothing when there
/// is nothing to keep. Throws Error{bad_input} when another process is writing it or it cannot be moved.
std::optional<std::filesystem::path> keep_measurements(const std::filesystem::path& file,
                                                       std::span<const Point> points);

/// The same for points that are made one by one, maybe a million.
using ForPoint = std::function<void(const Point& point)>;
using EachPoint = std::function<void(const ForPoint& use)>;
std::optional<std::filesystem::path> keep_measurements_of(const std::filesystem::path& file,
                                                          const EachPoint& each_point);

/// The same for a file about another scenario or machine than `header`; waits for others who ask.
std::optional<std::filesystem::path> keep_of_others(const std::filesystem::path& file,
                                                    const RunHeader& header);

class Journal {
 public:
  /// Replaces the file by a new journal with `header`; makes missing folders. Throws Error{bad_input}
  /// with the system's reason when the file cannot be written or another process is writing it.
  static Journal create(const std::filesystem::path& file, const RunHeader& header);

  /// Throws Error{environment} when the disk is full or gone; then the file still ends with a complete line.
  void append(const Record& record);
  /// The same for many points that are known at once.
  void append(std::span<const Point> points);

  const std::filesystem::path& file() const { return file_; }

  /// Moves the file away where it `matters`, for keep_measurements() and keep_of_others().
  static std::optional<std::filesystem::path> kept(const std::filesystem::path& file,
                                                   const std::function<bool()>& matters,
                                                   std::chrono::milliseconds patience = {});

 private:
  friend ResumedJournal resume_journal(const std::filesystem::path& file, const ResumeRequest& request);

  explicit Journal(const std::filesystem::path& file, std::chrono::milliseconds patience = {});
  void truncate(std::size_t size);
  void write(std::string_view text);

  std::filesystem::path file_;
  FileDescriptor descriptor_;
};

/// What the resumed run is about to do.
struct ResumeRequest {
  RunHeader header;
  std::vector<PointKey> keys = {};      ///< All points that it asks for.
  std::optional<Backend> backend = {};  ///< The one that it measures with; none = it measures nothing.
};

struct ResumedJournal {
  Journal journal;
  /// The first line of the file: of the run that began it, or of this one.
  RunHeader header;
  /// What is known already of the points that the run asks for. A measurement that failed is not known; one
  /// may lack repetitions, because the run was ended before.
  std::vector<Point> points;
  /// What a person should know, whole sentences: a cut line that was dropped, points that nobody asks for any
  /// more, another version, host or scenario text in the earlier part.
  std::vector<std::string> notes;
};

/// Goes on with the journal in `file`, whose first line stays as it is; a last line cut in the middle is
/// taken off. A file missing, empty or cut within its first line is begun anew. Throws Error{bad_input} as
/// read_results() and Journal::create(), and for other results: another scenario name, another machine
/// (unless both runs calibrate this one), only points that this run does not ask for, or another backend.
ResumedJournal resume_journal(const std::filesystem::path& file, const ResumeRequest& request);

/// Replaces a file that is no journal, whole or not at all; what a link or a pipe leads to is written in
/// place. Throws Error{environment} with the system's reason when it cannot be written.
void write_file(const std::filesystem::path& file, const std::string& text);

/// Keeps a folder of results for one run: from its first file to its last no other run may write there.
/// Nothing is left behind; the system ends the lock with the process.
class FolderLock {
 public:
  /// Throws Error{bad_input} when another process holds it.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileDescriptor descriptor_;
};

}  // namespace ringside
