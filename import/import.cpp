#include "import/import.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "import/parts.hpp"
#include "results/codec/record.hpp"

namespace ringside {
namespace {

/// What the format is told by.
constexpr std::size_t kStartSize = 64 * 1024;
/// No table has wider lines; of those of other logs only this much is looked at.
constexpr std::size_t kLongestLine = 64 * 1024;

constexpr std::string_view kReadable =
    "ringside reads text and JSON of nccl-tests and rccl-tests, OSU, Intel MPI Benchmarks, all_reduce_bench, "
    "DeepSpeed, PARAM, Gloo's benchmark, NCCL Inspector, nccom-test, NVSHMEM's perftest, "
    "p2pBandwidthLatencyTest, nvbandwidth, nvidia-smi topo -m, NCCL's "
    "topology "
    "XML, CSV with named columns, and results.jsonl";

[[noreturn]] void reject(std::string_view name, std::string_view problem) {
  throw bad_input("{}: {}", name, problem);
}

/// A text piece by piece, up to a limit: devices and pipes may never end.
class TextSource {
 public:
  TextSource(std::istream& stream, std::string_view name, std::uint64_t most)
      : stream_(stream), name_(name), most_(most) {}

  /// The next bytes; empty at the end. Throws Error{bad_input} beyond the limit.
  std::string take(std::size_t length) {
    std::string bytes(length, '\0');
    stream_.read(bytes.data(), static_cast<std::streamsize>(length));
    bytes.resize(static_cast<std::size_t>(stream_.gcount()));
    taken_ += bytes.size();
    if (taken_ > most_) {
      reject_long_text(name_, most_);
    }
    return bytes;
  }

  std::string rest() {
    std::string text;
    for (std::string piece = take(kPieceSize); !piece.empty(); piece = take(kPieceSize)) {
      text += piece;
    }
    return text;
  }

  static constexpr std::size_t kPieceSize = std::size_t{1} << 20;

 private:
  std::istream& stream_;
  std::string_view name_;
  std::uint64_t most_;
  std::uint64_t taken_ = 0;
};

/// Feeds a text's lines to `use(number, line, is_whole)`, where a last line without its break is not whole.
template <typename Use>
void for_each_line(const std::string& start, TextSource& rest, Use use) {
  std::string pending;
  std::size_t number = 0;
  const auto keep = [&](std::string_view part) {
    pending.append(part.substr(0, kLongestLine - std::min(kLongestLine, pending.size())));
  };
  for (std::string taken = start; !taken.empty(); taken = rest.take(TextSource::kPieceSize)) {
    for (std::string_view piece = taken; !piece.empty();) {
      const std::size_t end = piece.find('\n');
      if (end == std::string_view::npos) {
        keep(piece);
        break;
      }
      if (pending.empty()) {
        use(++number, piece.substr(0, std::min(end, kLongestLine)), true);
      } else {
        keep(piece.substr(0, end));
        use(++number, std::string_view(pending), true);
        pending.clear();
      }
      piece.remove_prefix(end + 1);
    }
  }
  if (!pending.empty()) {
    use(++number, std::string_view(pending), false);
  }
}

ReadLog import_lines(const std::string& start, TextSource& rest, std::string_view name,
                     const ImportDefaults& defaults) {
  const std::array readers = {nccl_tests_reader(defaults), osu_reader(),       imb_reader(),
                              all_reduce_bench_reader(),   deepspeed_reader(), param_reader(),
                              gloo_benchmark_reader(),     inspector_reader(), titled_table_reader(defaults)};
  bool no_text = false;
  bool empty = true;
  std::string untagged;
  std::string valid;
  LogLine line;
  for_each_line(start, rest, [&](std::size_t number, std::string_view text, bool is_whole) {
    empty = false;
    no_text = no_text || text.find('\0') != std::string_view::npos;
    line.number = number;
    line.is_whole = is_whole;
    line.take(without_rank_tags(text, untagged));
    if (!line.is_ascii) {
      valid = valid_utf8(std::string(text));
      line.take(without_rank_tags(valid, untagged));
    }
    for (const auto& reader : readers) {
      if (reader->may_read(line)) {
        reader->read(line);
      }
    }
  });
  ReadLog log;
  Import& import = log.import;
  std::vector<TableRows> tables;
  bool found = false;
  for (const auto& reader : readers) {
    found = found || reader->found();
    for (TableRows& table : reader->finish(import)) {
      if (import.format.empty()) {
        import.format = reader->format();
      }
      tables.push_back(std::move(table));
    }
  }
  add_series(std::move(tables), name, defaults, log);
  const Transfers& transfers = import.transfers;
  const bool between_two = transfers.latency || !transfers.bytes_per_second.empty();
  if (log.series > 0 || (defaults.transfers_suffice && between_two)) {
    return log;
  }
  if (between_two) {
    reject(name,
           "times transfers between two processes and no collective; `ringside import` makes a line for "
           "`known` of it");
  }
  if (no_text) {
    reject(name, fmt::format("is no text; {}", kReadable));
  }
  if (found) {
    reject(name,
           import.notes.empty()
               ? std::string("is a log of a benchmark, but holds no complete row of its table; was it cut?")
               : "is a log of a benchmark, but none of its rows can be used: " + import.notes.front());
  }
  reject(name, empty ? std::string("is empty: the run printed nothing")
                     : fmt::format("holds no measurement; {}", kReadable));
}

ReadLog of_results(const Results& results) {
  ReadLog log{.import = {.format = "ringside", .notes = results.notes}};
  std::map<std::int64_t, std::vector<Point>> series;
  for (const Point& point : results.points) {
    if (point.measured && has_possible_times(*point.measured)) {
      series[point.series.value_or(1)].push_back(point);
    } else if (point.measured) {
      log.import.notes.push_back(fmt::format("a point of {} was skipped: a time is not between {} and {:g} s",
                                             point.key.algorithm, format(kShortestTime), kLongestTime.value));
    }
  }
  log.series = series.size();
  log.each_point = [series = std::move(series)](const UsePoint& use) {
    std::size_t number = 0;
    for (const auto& [called, points] : series) {
      for (const Point& point : points) {
        use(number, 1, Point(point));
      }
      ++number;
    }
  };
  return log;
}

enum class Format { lines, results, json, csv, utf16 };

Format format_of(std::string_view start) {
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    return Format::utf16;
  }
  if (start.starts_with(kPageStart)) {
    return Format::results;
  }
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && start[first] == '{') {
    const std::string_view line = start.substr(first, start.find('\n', first) - first);
    if (contains(line, "\"record\"")) {
      return Format::results;
    }
    // A Python dict of settings in front of a log is none of JSON's objects.
    const std::size_t next = start.find_first_not_of(" \t\r\n", first + 1);
    if (next != std::string_view::npos && start[next] != '"' && start[next] != '}') {
      return Format::lines;
    }
    // A log whose lines are wrapped in JSON has one whole object per line.
    const bool wrapped =
        (first + line.size() < start.size() - 1 && is_json(line)) || contains(line, "\"coll_perf\"");
    return wrapped ? Format::lines : Format::json;
  }
  // PARAM parts its columns by tabs, and its title repeats in every line.
  const bool param = contains(start, "COMMS-RES-");
  return !param && is_csv(start) ? Format::csv : Format::lines;
}

ReadLog read_from(std::istream& stream, std::string_view name, const ImportDefaults& defaults) {
  TextSource source(stream, name, defaults.most_bytes);
  const std::string start = source.take(kStartSize);
  const Format format = format_of(start);
  if (format == Format::utf16) {
    reject(name, "is UTF-16, as PowerShell writes it; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
  }
  if (format == Format::lines) {
    return import_lines(start, source, name, defaults);
  }
  const std::string text = start + source.rest();
  if (format == Format::results) {
    return of_results(parse_results(text, name));
  }
  ReadLog log;
  std::vector<TableRows> tables;
  if (format == Format::json) {
    auto read = read_nccl_tests_json(text, name, defaults, log.import);
    if (!read) {
      reject(name, fmt::format("is JSON, but has no list `results` of nccl-tests; {}", kReadable));
    }
    tables.push_back(rows_of(std::move(*read)));
  } else {
    tables.push_back(rows_of(read_csv(text, name, defaults, log.import)));
  }
  add_series(std::move(tables), name, defaults, log);
  if (log.series == 0) {
    reject(name, log.import.notes.empty() ? std::string("holds no measurement")
                                          : "holds no measurement: " + log.import.notes.front());
  }
  return log;
}

/// With all points in memory.
Import collected(ReadLog log) {
  Import import = std::move(log.import);
  import.series.resize(log.series);
  log.each_point([&](std::size_t series, std::size_t line, Point&& point) {
    import.series[series].line = line;
    import.series[series].points.push_back(std::move(point));
  });
  return import;
}

}  // namespace

ReadLog read_log(const std::filesystem::path& file, const ImportDefaults& defaults) {
  std::ifstream stream(file, std::ios::binary);
  stream.peek();  // A folder opens, but cannot be read.
  if (!stream && !stream.eof()) {
    read_text(file, defaults.most_bytes);  // Throws with the system's reason.
  }
  stream.exceptions(std::ios::badbit);  // What cannot be read further on is no shorter log.
  try {
    return read_from(stream, file.string(), defaults);
  } catch (const std::ios_base::failure& failure) {
    throw bad_input("cannot read {}: {}", file.string(), failure.code().message());
  }
}

Import import_measurements(const std::filesystem::path& file, const ImportDefaults& defaults) {
  return collected(read_log(file, defaults));
}

Import import_text(std::string_view text, std::string_view name, const ImportDefaults& defaults) {
  std::istringstream stream{std::string(text)};
  return collected(read_from(stream, name, defaults));
}

Merged merge(const std::vector<Series>& series) {
  Merged merged;
  std::set<PointKey> keys;
  for (const Series& one : series) {
    for (const Point& point : one.points) {
      if (keys.insert(point.key).second) {
        merged.points.push_back(point);
      } else {
        ++merged.repeated;
      }
    }
  }
  return merged;
}

void PointKinds::add(PointKey key) {
  const Bytes bytes = std::exchange(key.bytes, {});
  Sizes& sizes = kinds_.try_emplace(std::move(key), Sizes{bytes, bytes}).first->second;
  sizes = {std::min(sizes.least, bytes), std::max(sizes.most, bytes)};
}

std::vector<std::string> PointKinds::sentences() const {
  std::vector<std::string> sentences;
  for (const auto& [kind, sizes] : kinds_) {
    sentences.push_back(fmt::format("{} {} ({}) of {} on {} ranks, {}", kind.algorithm, name(kind.collective),
                                    name(kind.op), name(kind.dtype), kind.ranks,
                                    from_to(sizes.least, sizes.most)));
  }
  return sentences;
}

std::vector<std::string> describe_kinds(const std::vector<Point>& points) {
  PointKinds kinds;
  for (const Point& point : points) {
    kinds.add(point.key);
  }
  return kinds.sentences();
}

}  // namespace ringside
