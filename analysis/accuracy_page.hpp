#pragma once

#include <string>

#include "analysis/evaluation.hpp"

namespace ringside {

/// docs/accuracy.md in full, as Markdown: targets, tables per class, every system, odd ones apart, the parameters, and how their
/// structure was chosen.
std::string accuracy_page(const AccuracyReport& report, const NcclFit& fit);

}  // namespace ringside
