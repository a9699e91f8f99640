#include "real/measure/point_request.hpp"

#include <fmt/format.h>

#include "results/codec/field_table.hpp"

namespace ringside {

FieldTable<RankPlacement> table_of(const RankPlacement* /*any*/) {
  return {.fields = fields<RankPlacement>(required("ranks_per_node", &RankPlacement::ranks_per_node),
                                          required("order", &RankPlacement::order))};
}

FieldTable<TimingLimits> table_of(const TimingLimits* /*any*/) {
  return {.fields = fields<TimingLimits>(required("budget", &TimingLimits::budget),
                                         required("target_interval", &TimingLimits::target_interval),
                                         required("min_calls", &TimingLimits::min_calls),
                                         required("max_calls", &TimingLimits::max_calls))};
}

FieldTable<PointRequest> table_of(const PointRequest* /*any*/) {
  return {.fields = fields<PointRequest>(inlined(&PointRequest::key), inlined(&PointRequest::placement),
                                         inlined(&PointRequest::limits),
                                         required("check_every_call", &PointRequest::check_every_call),
                                         required("seed", &PointRequest::seed))};
}

PointRequest request_of(const PointKey& key, const MeasureOptions& options) {
  return {.key = key,
          .placement = options.placement_of(key.ranks),
          .limits = {.budget = options.budget_per_point,
                     .target_interval = options.target_interval,
                     .min_calls = options.min_iterations,
                     .max_calls = options.max_iterations},
          .check_every_call = options.check_every_call,
          .seed = options.seed};
}

std::string description(const PointKey& key) {
  return fmt::format("{} {}, {} ranks, {}", name(key.collective), key.algorithm, key.ranks,
                     format(key.bytes));
}

}  // namespace ringside
