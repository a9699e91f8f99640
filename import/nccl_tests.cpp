// Text of nccl-tests and rccl-tests. A row, since 2.0 (src/common.cu of NVIDIA/nccl-tests):
//
//         size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
//          (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
//      1048576        262144     float     sum      -1    60.12   17.44   30.52      0    59.87   17.51   30.65      0
//
// redop and root are missing where a version or a collective has none; the column of errors is `error` (the
// largest one, such as 4e-07) in old versions and `#wrong` (how many elements) in newer ones, `N/A` without a
// check; a time stamp may follow. Words before the size (`[1,0]<stdout>:`, a date) do not matter: the type is
// found. The first programs
// for NCCL 2.0 printed milliseconds under other names:
//
//        bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res
//      1048576        262144   float     sum    0.101  10.38  10.38    4e-07    0.100  10.49  10.49    4e-07

#include "import/nccl_tests.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace ringside {
namespace {

bool is_redop(std::string_view word) {
  return is_one_of(word, {"sum", "prod", "max", "min", "avg", "mulsum", "none"});
}

/// `2.18.3+cuda12.2` without what follows the number.
std::string version_in(std::string_view word) {
  return std::string(word.substr(0, std::min(word.find_first_not_of("0123456789."), word.size())));
}

/// Reads it from `words` at `at`; nothing when it is cut or `N/A`.
std::optional<NcclTiming> timing_at(const Words& words, std::size_t at, bool in_milliseconds) {
  if (at + 3 > words.size()) {
    return std::nullopt;
  }
  const auto time = number_in_word(words[at]);
  const auto algbw = number_in_word(words[at + 1]);
  const auto busbw = number_in_word(words[at + 2]);
  if (!time || !algbw || !busbw) {
    return std::nullopt;
  }
  // Milliseconds have three decimals.
  return NcclTiming{.microseconds = *time * (in_milliseconds ? 1e3 : 1),
                    .rounding = in_milliseconds ? 0.5 : 0,
                    .bandwidths = {.algbw = *algbw, .busbw = *busbw},
                    .wrong = at + 3 < words.size() ? words[at + 3] : std::string_view{}};
}

/// Whether a time and its bandwidth are of one row: both are printed rounded, the time to at least 3 digits.
bool fit(std::int64_t bytes, const NcclTiming& timing) {
  if (!(timing.microseconds > 0)) {
    return false;
  }
  const double algbw = static_cast<double>(bytes) / timing.microseconds / 1e3;
  return std::abs(algbw - timing.bandwidths.algbw) <=
         0.011 + (0.01 + timing.rounding / timing.microseconds) * algbw;
}

std::string_view without_perf(std::string_view program) { return program.substr(0, program.find("_perf")); }

/// `...` or `…` in place of rows.
bool is_elision(const Words& words) {
  return words.size() == 1 &&
         ((words[0].size() > 1 && words[0].find_first_not_of('.') == std::string_view::npos) ||
          words[0] == "…");
}

bool is_rank_line(std::string_view line, const Words& words) {
  const auto rank = std::ranges::find(words, "Rank");
  return rank != words.end() && rank + 1 != words.end() && contains(line, " device ");
}

/// Also those that time no collective of ringside's, though rows look like all_reduce's.
bool is_program(std::string_view name) {
  return collective_of_program(name) || is_one_of(without_perf(name), {"alltoallv", "hypercube", "scatter"});
}

/// Where the type stands, with the size and the count in front of it.
struct RowStart {
  std::size_t type = 0;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

std::optional<RowStart> row_start_in(const Words& words) {
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto count = whole_in_word(words[i - 1]);
    const auto bytes = count ? whole_in_word(words[i - 2]) : std::nullopt;
    if (bytes && is_nccl_dtype(words[i])) {
      return RowStart{.type = i, .bytes = *bytes, .count = *count};
    }
  }
  return std::nullopt;
}

/// Whether what stands where the times of a row should be is a text of another program, glued to the root:
/// `-1host:1:1 [0] NCCL INFO`. A row that was cut has nothing there, and one without times `N/A` or `XXXXX`.
bool words_follow(const Words& words, std::size_t at) {
  constexpr std::string_view kRoot = "-1";
  if (at >= words.size() || !words[at].starts_with(kRoot)) {
    return false;
  }
  return words[at].size() > kRoot.size() || (at + 1 < words.size() && contains(words[at + 1], ":"));
}

}  // namespace

std::optional<std::string> nccl_version_of_code(std::string_view word) {
  const auto code = whole_in_word(word.substr(0, word.find_first_not_of("0123456789")));
  if (!code || *code < 20900) {
    return std::nullopt;
  }
  return fmt::format("{}.{}.{}", *code / 10000, *code / 100 % 100, *code % 100);
}

std::optional<Collective> collective_of_program(std::string_view name) {
  const std::string_view called = without_perf(name);
  const auto* const row = std::ranges::find(kCollectives, called, &CollectiveRow::nccl_tests);
  return row != kCollectives.end() && !called.empty() ? row->collective : parse_name<Collective>(called);
}

void NcclTestsReader::Row::take(const NcclTiming& timing) {
  microseconds = timing.microseconds;
  bandwidths[halves++] = timing.bandwidths;
  // `4e-07` is the largest error of an old version, not a count.
  const bool counted = timing.wrong.find_first_of(".e") == std::string_view::npos;
  wrong = counted ? whole_in_word(timing.wrong).value_or(0) : 0;
}

void NcclTestsReader::add_row(const Row& row) {
  if (!in_table_) {
    in_table_ = true;
    coming_.line = row.line;
    coming_.first = rows_.size();
    printed_.push_back(coming_);
  }
  rows_.push_back(row);
}

void NcclTestsReader::start_run() {
  coming_ = {};
  in_table_ = false;
}

bool NcclTestsReader::read_row(const LogLine& line) {
  const Words& words = line.words;
  const auto start = row_start_in(words);
  if (!start) {
    return false;
  }
  found_ = true;
  drop_split();
  Row row{.line = line.number,
          .bytes = start->bytes,
          .count = start->count,
          .dtype = nccl_dtype(words[start->type])};
  std::size_t at = start->type + 1;
  std::string_view redop;
  if (at < words.size() && is_redop(words[at])) {
    redop = words[at++];
    row.has_redop = redop != "none";
    row.op = parse_name<ReduceOp>(redop);
  }
  const auto half_at = [&](std::size_t i) { return timing_at(words, i, coming_.in_milliseconds); };
  // A root is a whole number where times have a point, or -1; four numbers of the first half follow it.
  const bool no_root = at < words.size() && words[at] == "-1";
  auto out_of_place = half_at(no_root ? at + 1 : at);
  if (no_root && out_of_place) {
    ++at;
  } else if (no_root) {
    out_of_place = half_at(at);
  } else if (at + 3 < words.size() && !contains(words[at], ".") && whole_in_word(words[at]) &&
             !(out_of_place && fit(row.bytes, *out_of_place))) {
    if (const auto behind_root = half_at(at + 1)) {
      row.has_root = true;
      out_of_place = behind_root;
      ++at;
    }
  }
  row.has_columns = at > start->type + 1;
  const auto in_place = half_at(at + 4);
  const bool first = placement_ == Placement::out_of_place;
  const auto& timing = first ? out_of_place : in_place;
  const auto& other = first ? in_place : out_of_place;
  if (!timing && !out_of_place && row.dtype && row.bytes > 0 && line.is_whole && words_follow(words, at)) {
    split_ = Split{.row = row};
  } else if (!timing) {
    const bool cut = words.size() < at + (first ? 3 : 7);
    skipped_.add(line.number, cut ? "the row is cut" : "it has no time");
  } else if (line.text.find(',') != std::string_view::npos &&
             std::any_of(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), has_decimal_comma)) {
    skipped_.add(line.number,
                 "its numbers have decimal commas; write them with points, as LC_ALL=C prints them");
  } else if (!row.dtype) {
    skipped_.add(line.number, fmt::format("elements of type {} are none of ringside's", words[start->type]));
  } else if (row.bytes == 0) {
    skipped_.add(line.number, "a message of 0 bytes");
  } else if (!redop.empty() && redop != "none" && !row.op) {
    skipped_.add(line.number, fmt::format("the operation {} is none of ringside's", redop));
  } else if (!fit(row.bytes, *timing)) {
    skipped_.add(line.number,
                 line.is_whole ? "its time and its bandwidth do not fit each other" : "the row is cut");
  } else {
    row.take(*timing);
    if (other && fit(row.bytes, *other)) {
      row.bandwidths[row.halves++] = other->bandwidths;
    }
    add_row(row);
  }
  return true;
}

void NcclTestsReader::read_run(std::string_view line, const Words& words) {
  if (contains(line, "nThread")) {
    // `# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 …`
    std::string_view left = line;
    while (const auto next = after(left, "iters:")) {
      left = *next;
      const auto before = line.substr(0, static_cast<std::size_t>(left.data() - line.data()) - 6);
      const std::string_view kind = words_of(before).empty() ? "" : words_of(before).back();
      if (kind != "warmup" && kind != "agg") {
        coming_.iterations = iterations_in_word(first_word(left));
      }
    }
    return;
  }
  // `#  Rank  0 Group  0 Pid  12345 on  node1 device  0 [0x0f] NVIDIA A100-SXM4-40GB`
  const auto rank = std::ranges::find(words, "Rank");
  if (const auto number = ranks_in_word(*(rank + 1))) {
    coming_.ranks_listed = std::max(coming_.ranks_listed, *number + 1);
  }
  if (std::string gpu = gpu_of_rank(line); !gpu.empty() && !gpu_) {
    gpu_ = std::move(gpu);
  }
}

void NcclTestsReader::read_version(std::string_view line) {
  if (const auto rccl = after(line, "RCCL version")) {
    nccl_ = "RCCL " + version_in(first_word(rccl->substr(rccl->starts_with(" :") ? 2 : 0)));
  } else if (const auto nccl = after(line, "NCCL version")) {
    nccl_ = version_in(first_word(*nccl));
  } else if (const auto library = after(line, "nccl-library=")) {
    found_ = true;
    nccl_ = nccl_ ? nccl_ : nccl_version_of_code(first_word(*library));
  }
}

void NcclTestsReader::read_preamble(std::size_t line_number, std::string_view line, const Words& words) {
  const auto has = [&](std::string_view text) { return contains(line, text); };
  if (const auto rest = after(line, "Collective test starting:")) {
    start_run();
    found_ = true;
    coming_.collective = std::string(first_word(*rest));
  } else if ((has("nThread") && has("nGpus")) || is_rank_line(line, words)) {
    if (in_table_) {
      start_run();
    }
    found_ = true;
    read_run(line, words);
  } else if (has("algbw") && has("busbw") && (has("size") || has("bytes"))) {
    found_ = true;
    in_table_ = false;
    const auto has_word = [&](std::string_view word) {
      return std::ranges::find(words, word) != words.end();
    };
    coming_.in_milliseconds = has_word("N") && has_word("res");
    coming_.names_redop_alone = has_word("redop") && !has_word("root");
  } else if (has("CCL version") || has("nccl-library=")) {
    read_version(line);
  } else if (has("Out of bounds values") && has("FAILED")) {
    notes_.push_back(fmt::format(
        "line {}: its footer says `Out of bounds values … FAILED`: the sums were wrong", line_number));
  } else if (has("Test NCCL failure") || has("Test CUDA failure")) {
    constexpr std::size_t kShown = 177;
    found_ = true;
    const auto start = line.find(has("Test NCCL failure") ? "Test NCCL failure" : "Test CUDA failure");
    notes_.push_back(fmt::format("line {}: the run failed: {}", line_number,
                                 trimmed(line.substr(start), " \t\r").substr(0, kShown)));
  } else if (in_table_ && is_elision(words)) {
    elided_ = elided_ ? elided_ : line_number;
  } else if (!in_table_) {
    // The command that started it: `mpirun … ./build/all_reduce_perf -b 8 -e 1G -f 2`.
    const std::size_t program = line.find("_perf");
    if (program != std::string_view::npos) {
      const std::size_t start = line.find_last_of(" /\t'\"=", program);
      const std::string_view name = line.substr(start == std::string_view::npos ? 0 : start + 1);
      if (is_program(first_word(name))) {
        coming_.collective = std::string(first_word(name));
      }
    }
  }
}

void NcclTestsReader::drop_split() {
  if (split_) {
    skipped_.add(split_->row.line, "it has no time");
    split_.reset();
  }
}

bool NcclTestsReader::read_rest(const Words& words) {
  const auto timing = split_ ? timing_at(words, 0, coming_.in_milliseconds) : std::nullopt;
  if (!timing || !fit(split_->row.bytes, *timing)) {
    return false;
  }
  if (split_->halves++ == (placement_ == Placement::out_of_place ? 0 : 1)) {
    split_->row.take(*timing);
    add_row(split_->row);
    split_.reset();
  }
  return true;
}

void NcclTestsReader::read(const LogLine& line) {
  // Most lines of most logs are none of ours; no word of ours is shorter.
  if (line.text.size() < 3) {
    return;
  }
  if (contains(line.text, "busbw")) {
    in_titled_table_ = is_table_title(line.text);
  }
  if (!in_titled_table_ && !read_row(line) && !read_rest(line.words)) {
    std::string blanks;
    read_preamble(line.number, without_tabs(line.text, blanks), line.words);
  }
}

std::unique_ptr<LogReader> nccl_tests_reader(const ImportDefaults& defaults) {
  return std::make_unique<NcclTestsReader>(defaults);
}

}  // namespace ringside
