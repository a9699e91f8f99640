#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/evaluation/evaluation.hpp"

/// The tables of docs/accuracy.md. What the page says around them is written by hand.
namespace ringside {

/// What stands in a page between the lines `<!-- name -->` and `<!-- end of name -->`.
struct PageSection {
  std::string name = {};
  std::string text = {};  ///< Markdown.
};

/// Thresholds and goals with what was reached, coverage of intervals, single points, classes, every system, excluded ones apart,
/// and the parameters.
std::vector<PageSection> accuracy_tables(const AccuracyReport& report, const NcclFit& fit);

/// `page` with these sections in place of what stands there; the rest stays. Throws Error{bad_input} that names `origin`
/// and the lines that it lacks.
std::string with_sections(std::string page, std::span<const PageSection> sections, std::string_view origin);

}  // namespace ringside
