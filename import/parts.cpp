#include "import/parts.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/mapped.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

// What a byte may be.
constexpr unsigned kEndsWord = 1;
constexpr unsigned kNotInRows = 2;
constexpr unsigned kNotAscii = 4;

constexpr auto kBytes = [] {
  std::array<unsigned, 256> bytes = {};
  for (unsigned c = 0; c < bytes.size(); ++c) {
    const bool ends_word = c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '|';
    const bool in_rows = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    bytes[c] = (ends_word ? kEndsWord : 0) | (c == '|' || !(in_rows || ends_word) ? kNotInRows : 0) |
               (c > 0x7F ? kNotAscii : 0);
  }
  return bytes;
}();

unsigned kind_of(char c) { return kBytes[static_cast<unsigned char>(c)]; }
bool ends_word(char c) { return (kind_of(c) & kEndsWord) != 0; }

/// What a log that wraps lines (JSON, quotes, colours) puts right behind the last word of one.
bool may_follow_number(char c) {
  return c == '\\' || c == '"' || c == '\'' || c == '<' || c == '\x1b' || c == ',';
}

template <typename Number>
std::optional<Number> leading_number(std::string_view word) {
  if (word.empty() || (word.front() > '9' && word.front() <= 'z')) {
    return std::nullopt;  // Most words of most logs.
  }
  const std::optional<Number> number = take_number<Number>(word);
  return word.empty() || may_follow_number(word.front()) ? number : std::nullopt;
}

struct TypeName {
  std::string_view spelt;
  std::optional<DataType> dtype;
};

// test_typenames of nccl-tests src/common.cu, and what versions before it called them.
constexpr auto kTypeNames = std::to_array<TypeName>({
    {"float", DataType::float32},
    {"half", DataType::float16},
    {"bfloat16", DataType::bfloat16},
    {"double", DataType::float64},
    {"int32", DataType::int32},
    {"int64", DataType::int64},
    {"int", DataType::int32},
    {"int8", std::nullopt},
    {"uint8", std::nullopt},
    {"char", std::nullopt},
    {"uint32", std::nullopt},
    {"uint64", std::nullopt},
    {"f8e4m3", std::nullopt},
    {"f8e5m2", std::nullopt},
    {"fp8_e4m3", std::nullopt},
    {"fp8_e5m2", std::nullopt},
});

const TypeName* type_name(std::string_view word) {
  const auto* found = std::ranges::find(kTypeNames, word, &TypeName::spelt);
  return found == kTypeNames.end() ? nullptr : found;
}

}  // namespace

void SkippedRows::add(std::size_t line, const std::string& why) {
  Lines& lines = reasons_[why];
  if (lines.count++ == 0) {
    lines.first = line;
  }
}

std::vector<std::string> SkippedRows::sentences() const {
  // What most rows lack comes first: it is what a person has to know of a file that gives nothing.
  std::vector<std::pair<std::string, Lines>> reasons(reasons_.begin(), reasons_.end());
  std::ranges::stable_sort(reasons,
                           [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  std::vector<std::string> result;
  for (const auto& [why, lines] : reasons) {
    result.push_back(lines.count == 1 ? fmt::format("line {} was skipped: {}", lines.first, why)
                                      : fmt::format("{} rows from line {} on were skipped: {}", lines.count,
                                                    lines.first, why));
  }
  return result;
}

bool has_possible_times(const Measurement& measurement) {
  if (measurement.outcome != Outcome::ok) {
    return true;
  }
  const auto possible = [](double seconds) {
    return seconds >= kShortestTime.value && seconds <= kLongestTime.value;
  };
  const std::array unknown_as_zero = {measurement.low, measurement.high, measurement.min, measurement.p95};
  const auto all = [&](const std::vector<double>& times) { return std::ranges::all_of(times, possible); };
  return possible(measurement.seconds.value) && all(measurement.samples) && all(measurement.repetitions) &&
         std::ranges::all_of(unknown_as_zero,
                             [&](Seconds time) { return time.value == 0 || possible(time.value); });
}

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

TableRows rows_of(ImportedTable table) {
  const auto rows = std::make_shared<const ImportedTable>(std::move(table));
  return {.size = rows->size(), .row = [rows](std::size_t index) { return (*rows)[index]; }};
}

void LogLine::take(std::string_view taken) {
  text = taken;
  words.clear();
  unsigned kinds = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    for (; at != end && ends_word(*at); ++at) {
      kinds |= kind_of(*at);
    }
    const char* const start = at;
    for (; at != end && !ends_word(*at); ++at) {
      kinds |= kind_of(*at);
    }
    if (at != start) {
      words.emplace_back(start, static_cast<std::size_t>(at - start));
    }
  }
  is_like_row = (kinds & kNotInRows) == 0;
  is_ascii = (kinds & kNotAscii) == 0;
}

Words words_of(std::string_view line) {
  LogLine whole;
  whole.take(line);
  return std::move(whole.words);
}

std::string_view without_tabs(std::string_view line, std::string& blanks) {
  if (!contains(line, "\t")) {
    return line;
  }
  blanks = line;
  std::replace(blanks.begin(), blanks.end(), '\t', ' ');
  return blanks;
}

std::string_view without_rank_tags(std::string_view line, std::string& kept) {
  constexpr std::string_view kStream = "]<std";
  constexpr std::string_view kOut = "out>:";
  for (std::size_t end = line.find(kStream); end != std::string_view::npos; end = line.find(kStream)) {
    const std::size_t start = line.rfind('[', end);
    const std::string_view rest = line.substr(end + kStream.size());
    if (start == std::string_view::npos || !(rest.starts_with(kOut) || rest.starts_with("err>:"))) {
      break;
    }
    kept = std::string(line.substr(0, start)).append(rest.substr(kOut.size()));
    line = kept;
  }
  return line;
}

bool has_decimal_comma(std::string_view word) {
  const std::size_t comma = word.find(',');
  return comma != std::string_view::npos && comma > 0 && comma + 1 < word.size() &&
         word.find_first_not_of("0123456789,") == std::string_view::npos &&
         word.find(',', comma + 1) == std::string_view::npos;
}

std::string_view clean(std::string_view text) { return text.substr(0, text.find_first_of("\\\"<\x1b")); }

std::string gpu_of_rank(std::string_view line) {
  const std::size_t bracket = line.rfind(']');
  return bracket == std::string_view::npos
             ? std::string()
             : fmt::format("{}", fmt::join(words_of(clean(line.substr(bracket + 1))), " "));
}

std::optional<std::string_view> after(std::string_view line, std::string_view marker) {
  const std::size_t found = line.find(marker);
  return found == std::string_view::npos ? std::nullopt : std::optional(line.substr(found + marker.size()));
}

std::string_view first_word(std::string_view text) {
  const auto* const start = std::ranges::find_if_not(text, ends_word);
  return {start, static_cast<std::size_t>(std::find_if(start, text.end(), ends_word) - start)};
}

std::optional<double> number_in_word(std::string_view word) {
  const auto number = leading_number<double>(word);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> whole_in_word(std::string_view word) {
  const auto number = leading_number<std::int64_t>(word);
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<int> ranks_in_word(std::string_view word) {
  const auto ranks = whole_in_word(word);
  return ranks && *ranks <= 100'000'000 ? std::optional(static_cast<int>(*ranks)) : std::nullopt;
}

int iterations_in_word(std::string_view word) {
  return static_cast<int>(std::min<std::int64_t>(whole_in_word(word).value_or(0), 1'000'000'000));
}

std::vector<TableRows> LogReader::finish(Import& import) {
  import.notes.insert(import.notes.end(), notes_.begin(), notes_.end());
  const auto skipped = skipped_.sentences();
  import.notes.insert(import.notes.end(), skipped.begin(), skipped.end());
  std::vector<TableRows> tables;
  for (ImportedTable& table : tables_) {
    if (!table.empty()) {
      tables.push_back(rows_of(std::move(table)));
    }
  }
  return tables;
}

std::optional<DataType> nccl_dtype(std::string_view word) {
  const TypeName* found = type_name(word);
  return found == nullptr ? std::nullopt : found->dtype;
}

bool is_nccl_dtype(std::string_view word) { return type_name(word) != nullptr; }

std::optional<int> ranks_of_bandwidths(Collective collective, const std::vector<Bandwidths>& rows) {
  // Half of the last digit printed.
  constexpr double kRounding = 0.005;
  // busbw/algbw = scale · (n−1)/n, so that n = scale / (scale − ratio).
  const double scale = std::max(1, row_of(collective).bus_factor);
  double low = 2;
  double high = std::numeric_limits<int>::max();
  for (const Bandwidths& row : rows) {
    if (row.algbw < 1 || row.busbw < 1) {
      continue;  // Two digits say nothing.
    }
    const double least = (row.busbw - kRounding) / (row.algbw + kRounding);
    const double most = (row.busbw + kRounding) / (row.algbw - kRounding);
    low = std::max(low, scale / (scale - std::min(least, 0.999999999 * scale)));
    high = std::min(high, most < scale ? scale / (scale - most) : high);
  }
  const double first = std::ceil(low - 1e-6);
  return first <= high + 1e-6 && first + 1 > high + 1e-6 ? std::optional(static_cast<int>(first))
                                                         : std::nullopt;
}

void add_ranks_of_bandwidths(Collective collective, ImportedTable& table) {
  const std::vector<Bandwidths> printed = mapped(table, &ImportedRow::bandwidths);
  const auto ranks = ranks_of_bandwidths(collective, printed);
  for (ImportedRow& row : table) {
    row.ranks = row.ranks ? row.ranks : ranks;
  }
}

}  // namespace ringside
