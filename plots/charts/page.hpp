#pragma once

#include <string>

#include "plots/charts/charts.hpp"
#include "plots/drawing/layout.hpp"

namespace ringside::plots {

/// Title and footer that all charts of a context share.
PageText page_text(const ChartContext& context, const std::string& subtitle);

}  // namespace ringside::plots
