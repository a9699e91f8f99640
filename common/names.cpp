#include "common/names.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"

namespace ringside {

namespace {

/// How many letters must be inserted, left out, changed or swapped with their neighbour to make one word of
/// the other (optimal string alignment); case does not count. Words are a few dozen letters long.
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

std::string_view library_of(Backend backend) {
  switch (backend) {
    case Backend::gloo:
      return "Gloo";
    case Backend::nccl:
      return "NCCL";
    case Backend::mpi:
      return "MPI";
    case Backend::automatic:
    case Backend::shm:
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

std::optional<std::string> nearest_name(std::string_view text, std::span<const std::string> known) {
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : known) {
    // A third of the longer word may be wrong; beyond that the suggestion would be noise. The difference in
    // length is looked at first, so that a text of a megabyte is cheap to refuse.
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
  const auto longer =
      std::ranges::find_if(known, [&](const std::string& candidate) { return candidate.starts_with(text); });
  return text.size() >= kShortestPrefix && longer != known.end() ? std::optional(*longer) : std::nullopt;
}

std::string unknown_name(std::string_view what, std::string_view text, std::span<const std::string> known) {
  const std::optional<std::string> near = nearest_name(text, known);
  return fmt::format("unknown {} '{}'{} Known: {}", what, text,
                     near ? fmt::format("; did you mean '{}'?", *near) : ".", fmt::join(known, ", "));
}

}  // namespace ringside
