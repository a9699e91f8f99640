#include "results/codec/reader.hpp"

#include <cerrno>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/units.hpp"

namespace ringside {
namespace {

[[noreturn]] void reject(std::string_view name, std::size_t line, std::string_view problem) {
  throw bad_input("{}:{}: {}", name, line, problem);
}

/// Keeps one point per key; the later line wins, part by part.
class PointMerger {
 public:
  explicit PointMerger(std::vector<Point>& points) : points_(points) {}

  void add(Point point) {
    const auto [place, is_new] = index_.try_emplace(point.key, points_.size());
    if (is_new) {
      points_.push_back(std::move(point));
      return;
    }
    Point& known = points_[place->second];
    if (point.predicted) {
      known.predicted = std::move(point.predicted);
    }
    if (point.measured) {
      known.measured = std::move(point.measured);
    }
  }

  void add(RepetitionRecord repetition) {
    const auto known = index_.find(repetition.key);
    if (known != index_.end() && points_[known->second].measured) {
      repetition.measured = with_repetition(*points_[known->second].measured, repetition.measured);
    }
    add(Point{.key = repetition.key, .predicted = {}, .measured = std::move(repetition.measured)});
  }

 private:
  std::vector<Point>& points_;
  std::map<PointKey, std::size_t> index_;
};

}  // namespace

Results parse_results(std::string_view file, std::string_view name) {
  const std::string_view text = records_in(file, name);
  Results results;
  PointMerger merger(results.points);
  std::size_t line_number = 0;
  bool has_header = false;
  for (std::size_t start = 0; start < text.size();) {
    ++line_number;
    const std::size_t line_break = text.find('\n', start);
    const bool is_whole = line_break != std::string_view::npos;
    const std::string_view line = text.substr(start, is_whole ? line_break - start : std::string_view::npos);
    start = is_whole ? line_break + 1 : text.size();
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }

    std::optional<Record> record;
    try {
      record = parse_record(line);
    } catch (const Error& error) {
      // Only a killed run leaves a last line that is not even JSON; anything else is somebody's mistake.
      if (is_whole || !has_header || is_json(line)) {
        reject(name, line_number, error.what());
      }
      results.notes.push_back(
          fmt::format("{}:{}: the last line is cut in the middle and was dropped", name, line_number));
      break;
    }

    const bool is_header = record && std::holds_alternative<RunHeader>(*record);
    if (is_header == has_header) {
      reject(name, line_number,
             has_header ? "a second run record: this file holds the results of more than one run"
                        : "is not the run record that results start with");
    }
    if (is_header) {
      results.header = std::get<RunHeader>(*std::move(record));
      has_header = true;
    } else if (record && std::holds_alternative<Point>(*record)) {
      merger.add(std::get<Point>(*std::move(record)));
    } else if (record && std::holds_alternative<RepetitionRecord>(*record)) {
      merger.add(std::get<RepetitionRecord>(*std::move(record)));
    }
    results.complete_bytes = start;
  }
  if (!has_header) {
    throw bad_input("{}: is empty, there are no results in it", name);
  }
  return results;
}

Results read_results(const std::filesystem::path& file) {
  return parse_results(read_text(file), file.string());
}

void reject_long_text(std::string_view name, std::uint64_t most) {
  throw bad_input(
      "{}: is longer than {}, and no more is read of it{}", name,
      format(Bytes{static_cast<std::int64_t>(most)}),
      most == kMostText ? "; import and check read all of a log on request (see their help)" : "");
}

std::string read_beyond(std::istream& stream, std::uint64_t most) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  std::string text;
  while (stream && text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    stream.read(text.data() + before, static_cast<std::streamsize>(kPiece));
    text.resize(before + static_cast<std::size_t>(stream.gcount()));
  }
  return text;
}

std::string read_text(const std::filesystem::path& file, std::uint64_t most) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    error = std::make_error_code(std::errc::is_a_directory);
  } else {
    if (std::filesystem::is_regular_file(file, error) && std::filesystem::file_size(file, error) > most &&
        !error) {
      reject_long_text(file.string(), most);
    }
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (stream) {
      std::string text = read_beyond(stream, most);
      if (text.size() > most) {
        reject_long_text(file.string(), most);
      }
      if (!stream.bad()) {
        return text;
      }
    }
    error = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  }
  throw bad_input("cannot read {}: {}", file.string(), error.message());
}

}  // namespace ringside
