#include "real/measure/measure_options.hpp"

namespace ringside {

RankPlacement placement_of(const MeasureOptions& options, int num_ranks) {
  const auto known = options.placements.find(num_ranks);
  return known == options.placements.end() ? RankPlacement{} : known->second;
}

}  // namespace ringside
