#include "results/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"

namespace ringside {
namespace {

std::string reason(int error_number) { return std::generic_category().message(error_number); }

[[noreturn]] void reject_file(const std::filesystem::path& file, std::string_view why) {
  throw bad_input("cannot write {}: {}", file.string(), why);
}

/// A file that a killed run left before its first line was whole. Anything else without a line break is not
/// ours to overwrite.
bool is_unborn(std::string_view text) {
  constexpr std::string_view kStart = R"({"record":"run")";
  const std::string_view known = text.substr(0, kStart.size());
  return kStart.starts_with(known) && text.find('\n') == std::string_view::npos && !is_json(text);
}

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view why) {
  throw bad_input("{}: {}; it cannot be resumed, replace it or write to another folder", file.string(), why);
}

void refuse_another_run(const std::filesystem::path& file, const RunHeader& there, const RunHeader& here) {
  if (there.scenario.name != here.scenario.name) {
    refuse(file, fmt::format("holds the results of scenario '{}', not of '{}'", there.scenario.name,
                             here.scenario.name));
  }
  if (!there.machine || !here.machine || (there.machine->this_machine && here.machine->this_machine)) {
    return;
  }
  if (there.machine->name != here.machine->name) {
    refuse(file, fmt::format("holds results for machine '{}', not for '{}'", there.machine->name,
                             here.machine->name));
  }
  if (there.machine->yaml != here.machine->yaml) {
    refuse(file, fmt::format("holds results for another version of machine '{}'", here.machine->name));
  }
}

void refuse_another_backend(const std::filesystem::path& file, std::span<const Point> points,
                            Backend backend) {
  const auto other = std::ranges::find_if(points, [&](const Point& point) {
    return point.measured && point.measured->outcome == Outcome::ok && point.measured->backend != backend;
  });
  if (other != points.end()) {
    refuse(file, fmt::format("holds measurements with backend {}, this run measures with {}",
                             name(other->measured->backend), name(backend)));
  }
}

/// Two runs in one file are honest only if a reader can tell; the header speaks of the first alone.
void note_differences(const RunHeader& there, const RunHeader& here, std::vector<std::string>& notes) {
  if (there.version != here.version) {
    notes.push_back(fmt::format("the earlier results were written by version {}, this is version {}",
                                there.version, here.version));
  }
  if (there.scenario.text != here.scenario.text) {
    notes.emplace_back(
        "the scenario has changed since the earlier results were written; those that it still asks "
        "for are used");
  }
  for (const auto& [fact, value] : here.host) {
    const auto earlier = there.host.find(fact);
    if (earlier != there.host.end() && earlier->second != value) {
      notes.push_back(fmt::format("the earlier results come from a host whose {} is '{}', here it is '{}'",
                                  fact, earlier->second, value));
    }
  }
}

/// Opening one waits for whoever reads it, and it keeps nothing.
void refuse_pipe(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_fifo(file, error)) {
    reject_file(file, "it is a pipe, which keeps nothing; write to another folder");
  }
}

/// The measurement alone, as it is written.
std::string measured_line(const Point& point) {
  if (!point.predicted) {
    return to_line(point);
  }
  return to_line(
      Point{.key = point.key, .predicted = {}, .measured = point.measured, .series = point.series});
}

/// Whether replacing the file would lose a measurement that `each_point` does not give. Both may be long:
/// only hashes of those are kept, and lines that are the same to the letter are not parsed.
bool holds_more(const std::filesystem::path& file, const EachPoint& each_point) {
  constexpr std::hash<std::string_view> kHash;
  std::vector<std::size_t> known;
  each_point([&](const Point& point) { known.push_back(kHash(measured_line(point))); });
  std::ranges::sort(known);
  const auto is_known = [&](std::string_view line) {
    return std::binary_search(known.begin(), known.end(), kHash(line));
  };
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    read_text(file);  // Throws with the system's reason.
  }
  bool has_header = false;
  for (std::string line; std::getline(stream, line);) {
    if ((has_header && is_known(line)) || line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    std::optional<Record> record;
    try {
      record = parse_record(line);
    } catch (const Error&) {
      // Somebody else's file, or one of another version; but a killed run leaves a last line that is cut.
      return !stream.eof() || is_json(line) || !(has_header || is_unborn(line));
    }
    const bool is_header = record && std::holds_alternative<RunHeader>(*record);
    const auto* point = record ? std::get_if<Point>(&*record) : nullptr;
    if (is_header == has_header || (record && std::holds_alternative<RepetitionRecord>(*record)) ||
        (point != nullptr && point->measured && !is_known(measured_line(*point)))) {
      return true;
    }
    has_header = true;
  }
  return !has_header && !std::filesystem::is_empty(file);
}

/// A name beside the file that nobody has.
std::filesystem::path dated_name(const std::filesystem::path& file) {
  struct stat facts {};
  ::stat(file.c_str(), &facts);
  std::string time = timestamp(std::chrono::system_clock::from_time_t(facts.st_mtime));
  std::replace(time.begin(), time.end(), ':', '-');
  const std::string stem = fmt::format("{}-{}", file.stem().string(), time);
  std::filesystem::path name = file.parent_path() / (stem + file.extension().string());
  for (int number = 2; std::filesystem::exists(name); ++number) {
    name.replace_filename(fmt::format("{}-{}{}", stem, number, file.extension().string()));
  }
  return name;
}

/// Whether the file is about another scenario or machine.
bool is_of_others(const std::filesystem::path& file, const RunHeader& header) {
  const std::string text = read_text(file);
  if (is_unborn(text)) {
    return false;
  }
  try {
    const RunHeader there = parse_results(text, file.string()).header;
    const auto machine = [](const RunHeader& run) { return run.machine ? run.machine->name : std::string{}; };
    return there.scenario.name != header.scenario.name || machine(there) != machine(header);
  } catch (const Error&) {
    return true;
  }
}

/// Takes away measurements that failed. Returns how many there were.
std::size_t forget_failures(std::vector<Point>& points) {
  std::size_t failed = 0;
  for (Point& point : points) {
    if (point.measured && point.measured->outcome == Outcome::failed) {
      point.measured.reset();
      ++failed;
    }
  }
  return failed;
}

}  // namespace

std::optional<std::filesystem::path> Journal::kept(const std::filesystem::path& file,
                                                   const std::function<bool()>& matters,
                                                   std::chrono::milliseconds patience) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return std::nullopt;
  }
  const Journal own(file, patience);  // Nobody else writes it meanwhile.
  if (!matters()) {
    return std::nullopt;
  }
  std::filesystem::path kept = dated_name(file);
  std::filesystem::rename(file, kept, error);
  if (error) {
    reject_file(kept, error.message());
  }
  return kept;
}

std::optional<std::filesystem::path> keep_of_others(const std::filesystem::path& file,
                                                    const RunHeader& header) {
  refuse_pipe(file);
  constexpr std::chrono::seconds kOfOthers{10};  // Predictions are read and replaced within milliseconds.
  return Journal::kept(
      file, [&] { return is_of_others(file, header); }, kOfOthers);
}

std::optional<std::filesystem::path> keep_measurements(const std::filesystem::path& file,
                                                       std::span<const Point> points) {
  return keep_measurements_of(file,
                              [&](const ForPoint& use) { std::for_each(points.begin(), points.end(), use); });
}

std::optional<std::filesystem::path> keep_measurements_of(const std::filesystem::path& file,
                                                          const EachPoint& each_point) {
  return Journal::kept(file, [&] { return holds_more(file, each_point); });
}

Journal::Journal(const std::filesystem::path& file, std::chrono::milliseconds patience) : file_(file) {
  std::error_code error;
  if (file.has_parent_path()) {
    std::filesystem::create_directories(file.parent_path(), error);
    // A parent that is a file is told by open() as well, but only this names the folder that is in the way.
    if (error) {
      reject_file(file.parent_path(), error.message());
    }
  }
  refuse_pipe(file);
  descriptor_ = FileDescriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!descriptor_.open()) {
    reject_file(file, reason(errno));
  }
  // File systems without locks answer something else than EWOULDBLOCK; there nobody is kept out.
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (std::chrono::steady_clock::now() >= deadline) {
      reject_file(file, "another process is writing it");
    }
    ::usleep(5000);
  }
}

Journal Journal::create(const std::filesystem::path& file, const RunHeader& header) {
  Journal journal(file);
  journal.truncate(0);
  journal.append(header);
  return journal;
}

void Journal::append(const Record& record) { write(to_line(record) + '\n'); }

void Journal::append(std::span<const Point> points) { write(to_lines(points)); }

void Journal::truncate(std::size_t size) {
  // Devices have no length to set.
  if (::ftruncate(descriptor_.number(), static_cast<off_t>(size)) != 0 && errno != EINVAL) {
    reject_file(file_, reason(errno));
  }
}

void Journal::write(std::string_view text) {
  RINGSIDE_CHECK(descriptor_.open(), "a journal that was moved away is written to");
  const off_t length_before = ::lseek(descriptor_.number(), 0, SEEK_END);
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(descriptor_.number(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      const int error_number = errno;
      // Take back the part of the line that still fitted; if even that fails, readers drop it.
      if (length_before >= 0 && rest.size() < text.size()) {
        static_cast<void>(::ftruncate(descriptor_.number(), length_before) == 0);
      }
      throw lacking("cannot write {}: {}; everything before is kept", file_.string(), reason(error_number));
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

ResumedJournal resume_journal(const std::filesystem::path& file, const ResumeRequest& request) {
  Journal journal(file);
  const std::string text = read_text(file);
  if (is_unborn(text)) {
    journal.truncate(0);
    journal.append(request.header);
    std::vector<std::string> notes;
    if (!text.empty()) {
      notes.push_back(fmt::format("{}:1: the only line is cut in the middle; begun anew", file.string()));
    }
    return {.journal = std::move(journal), .header = request.header, .points = {}, .notes = std::move(notes)};
  }

  Results there = parse_results(text, file.string());
  refuse_another_run(file, there.header, request.header);
  if (request.backend) {
    refuse_another_backend(file, there.points, *request.backend);
  }
  ResumedJournal resumed = {.journal = std::move(journal),
                            .header = std::move(there.header),
                            .points = {},
                            .notes = std::move(there.notes)};
  const std::set<PointKey> asked(request.keys.begin(), request.keys.end());
  std::copy_if(std::make_move_iterator(there.points.begin()), std::make_move_iterator(there.points.end()),
               std::back_inserter(resumed.points),
               [&](const Point& point) { return asked.contains(point.key); });
  const std::size_t failed = request.backend ? forget_failures(resumed.points) : std::size_t{0};
  if (failed > 0) {
    resumed.notes.push_back(
        fmt::format("{}: {} failed and will be measured again", file.string(), count_of(failed, "point")));
  }
  if (const std::size_t strangers = there.points.size() - resumed.points.size(); strangers > 0) {
    if (resumed.points.empty()) {
      refuse(file, fmt::format("none of its {} points is one that scenario '{}' asks for", strangers,
                               request.header.scenario.name));
    }
    resumed.notes.push_back(fmt::format("{}: {} that the scenario does not ask for will stay in the file",
                                        file.string(), count_of(strangers, "point")));
  }
  note_differences(resumed.header, request.header, resumed.notes);

  resumed.journal.truncate(there.complete_bytes);
  if (text[there.complete_bytes - 1] != '\n') {
    resumed.journal.write("\n");
  }
  return resumed;
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  if (file.has_parent_path()) {
    std::filesystem::create_directories(file.parent_path());
  }
  // What is no plain file, such as a pipe, is written to directly.
  std::error_code error;
  const bool plain = !std::filesystem::is_symlink(file, error) &&
                     (std::filesystem::is_regular_file(file, error) || !std::filesystem::exists(file, error));
  const std::filesystem::path draft =
      plain ? file.parent_path() / fmt::format(".{}.{}", file.filename().string(), ::getpid()) : file;
  errno = 0;
  std::ofstream out(draft, std::ios::binary);
  out << text;
  out.close();
  if (!out || (plain && ::rename(draft.c_str(), file.c_str()) != 0)) {
    const int reason = errno;
    if (plain) {
      ::unlink(draft.c_str());
    }
    throw lacking("cannot write {}: {}", file.string(), std::generic_category().message(reason));
  }
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  // Folders that cannot be read and file systems without locks keep nobody out.
  if (descriptor_.open() && ::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw bad_key(
        "output: another ringside is writing its results to {}; wait for it, or name another folder",
        folder.string());
  }
}

}  // namespace ringside
