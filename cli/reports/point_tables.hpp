#pragma once

#include <vector>

#include "cli/console.hpp"
#include "results/codec/record.hpp"
#include "results/point.hpp"

/// Points and what follows from them as cells of text, for the screen and for report.html alike.
namespace ringside::cli {

enum class ComparisonLayout {
  wide,
  narrow,  ///< For a narrow terminal: ranks and size stand above their rows, and without bus bandwidths.
  page,    ///< To be sorted: every row says its ranks and size, and there are no gaps.
};
TextTable comparison_table(const std::vector<Point>& points, ComparisonLayout layout);

TextTable accuracy_table(const std::vector<Accuracy>& records);

/// Who wins at each number of ranks and size, and by how much.
TextTable winner_table(const std::vector<Verdict>& verdicts);

}  // namespace ringside::cli
