#pragma once

#include <cstdint>
#include <string>

#include "real/measure/measure.hpp"
#include "real/measure/timing.hpp"
#include "results/codec/fields.hpp"
#include "results/point.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// What ranks must know to measure or to record one point.
struct PointRequest {
  PointKey key;
  RankPlacement placement = {};
  TimingLimits limits = {};
  bool check_every_call = true;  ///< As in MeasureOptions.
  std::uint64_t seed = 1;
};

PointRequest request_of(const PointKey& key, const MeasureOptions& options);

/// "all_reduce ring, 4 ranks, 1 MiB": for messages.
std::string description(const PointKey& key);

FieldTable<PointRequest> table_of(const PointRequest* any);

}  // namespace ringside
