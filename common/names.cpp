#include "common/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "common/spellings.hpp"

namespace ringside {

template <>
struct Spellings<Collective> {
  static constexpr std::array kTable = {
      Spelling<Collective>{Collective::all_reduce, "all_reduce"},
      Spelling<Collective>{Collective::reduce_scatter, "reduce_scatter"},
      Spelling<Collective>{Collective::all_gather, "all_gather"},
      Spelling<Collective>{Collective::broadcast, "broadcast"},
      Spelling<Collective>{Collective::reduce, "reduce"},
      Spelling<Collective>{Collective::gather, "gather"},
      Spelling<Collective>{Collective::all_to_all, "all_to_all"},
      Spelling<Collective>{Collective::send_recv, "send_recv"},
  };
};

template <>
struct Spellings<DataType> {
  static constexpr std::array kTable = {
      Spelling<DataType>{DataType::float32, "float32"}, Spelling<DataType>{DataType::float64, "float64"},
      Spelling<DataType>{DataType::float16, "float16"}, Spelling<DataType>{DataType::bfloat16, "bfloat16"},
      Spelling<DataType>{DataType::int32, "int32"},     Spelling<DataType>{DataType::int64, "int64"},
  };
};

template <>
struct Spellings<ReduceOp> {
  static constexpr std::array kTable = {
      Spelling<ReduceOp>{ReduceOp::sum, "sum"}, Spelling<ReduceOp>{ReduceOp::prod, "prod"},
      Spelling<ReduceOp>{ReduceOp::min, "min"}, Spelling<ReduceOp>{ReduceOp::max, "max"},
      Spelling<ReduceOp>{ReduceOp::avg, "avg"},
  };
};

template <>
struct Spellings<Backend> {
  static constexpr std::array kTable = {
      Spelling<Backend>{Backend::automatic, "auto"},  Spelling<Backend>{Backend::gloo, "gloo"},
      Spelling<Backend>{Backend::nccl, "nccl"},       Spelling<Backend>{Backend::mpi, "mpi"},
      Spelling<Backend>{Backend::threads, "threads"},
  };
};

template <>
struct Spellings<Fidelity> {
  static constexpr std::array kTable = {
      Spelling<Fidelity>{Fidelity::automatic, "auto"},
      Spelling<Fidelity>{Fidelity::closed_form, "closed_form"},
      Spelling<Fidelity>{Fidelity::replay, "replay"},
      Spelling<Fidelity>{Fidelity::flow, "flow"},
      Spelling<Fidelity>{Fidelity::nccl, "nccl"},
  };
};

template <>
struct Spellings<Outcome> {
  static constexpr std::array kTable = {
      Spelling<Outcome>{Outcome::ok, "ok"},
      Spelling<Outcome>{Outcome::wrong_result, "wrong_result"},
      Spelling<Outcome>{Outcome::failed, "failed"},
      Spelling<Outcome>{Outcome::unsupported, "unsupported"},
  };
};

namespace {

/// How many letters must be inserted, left out, changed or swapped with their neighbour to make one word of the other
/// (optimal string alignment); upper and lower case are the same letter. The words are a few dozen letters long.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  // Row i holds the distances of the first i letters of `a` to every beginning of `b`.
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row.back();
}

}  // namespace

std::string_view name(Collective value) { return spelling_of(value); }
std::string_view name(DataType value) { return spelling_of(value); }
std::string_view name(ReduceOp value) { return spelling_of(value); }
std::string_view name(Backend value) { return spelling_of(value); }
std::string_view name(Fidelity value) { return spelling_of(value); }
std::string_view name(Outcome value) { return spelling_of(value); }

template std::vector<std::string> names_of<Collective>();
template std::vector<std::string> names_of<DataType>();
template std::vector<std::string> names_of<ReduceOp>();
template std::vector<std::string> names_of<Backend>();
template std::vector<std::string> names_of<Fidelity>();
template std::vector<std::string> names_of<Outcome>();
template std::optional<Collective> parse_name<Collective>(std::string_view);
template std::optional<DataType> parse_name<DataType>(std::string_view);
template std::optional<ReduceOp> parse_name<ReduceOp>(std::string_view);
template std::optional<Backend> parse_name<Backend>(std::string_view);
template std::optional<Fidelity> parse_name<Fidelity>(std::string_view);
template std::optional<Outcome> parse_name<Outcome>(std::string_view);

std::string_view library_of(Backend backend) {
  switch (backend) {
    case Backend::gloo:
      return "Gloo";
    case Backend::nccl:
      return "NCCL";
    case Backend::mpi:
      return "MPI";
    case Backend::automatic:
    case Backend::threads:
      break;
  }
  return {};
}

std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::float16:
    case DataType::bfloat16:
      return 2;
    case DataType::float32:
    case DataType::int32:
      return 4;
    case DataType::float64:
    case DataType::int64:
      return 8;
  }
  throw_bug("a declared value", __FILE__, __LINE__, "an unknown data type has no size");
}

bool is_floating(DataType type) { return type != DataType::int32 && type != DataType::int64; }

std::optional<std::string> nearest_name(std::string_view text, std::span<const std::string> known) {
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : known) {
    // A third of the longer word may be wrong; beyond that the suggestion would be noise. The difference in length is
    // looked at first, so that a text of a megabyte is cheap to refuse.
    const auto [shorter, longer] = std::minmax({text.size(), candidate.size()});
    const auto too_far = [&, length = longer](std::size_t distance) { return 3 * distance > length + 1; };
    if (too_far(longer - shorter)) {
      continue;
    }
    const std::size_t distance = edit_distance(text, candidate);
    if (!too_far(distance) && (best == nullptr || distance < best_distance)) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best != nullptr) {
    return *best;
  }
  // What people cut short: `band` for bandwidth.
  constexpr std::size_t kShortestPrefix = 3;
  const auto longer = std::find_if(known.begin(), known.end(),
                                   [&](const std::string& candidate) { return candidate.starts_with(text); });
  return text.size() >= kShortestPrefix && longer != known.end() ? std::optional(*longer) : std::nullopt;
}

std::string unknown_name(std::string_view what, std::string_view text, std::span<const std::string> known) {
  const std::optional<std::string> near = nearest_name(text, known);
  return fmt::format("unknown {} '{}'{} Known: {}", what, text,
                     near ? fmt::format("; did you mean '{}'?", *near) : ".", fmt::join(known, ", "));
}

}  // namespace ringside
