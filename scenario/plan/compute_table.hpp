#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenario/plan/workload.hpp"
#include "scenario/yaml/map_table.hpp"

/// What a workload says of how fast one GPU computes.
namespace ringside {

using Efficiency = std::map<std::string, Interval<double>>;

struct EfficiencyMap {
  Efficiency ranges;
  bool operator==(const EfficiencyMap&) const = default;
};

/// As it is written: one of two speeds.
struct MeasuredDraft {
  std::string gpu;
  std::optional<double> samples_per_second;
  std::optional<Seconds> step_time;
  std::optional<int> batch;

  bool operator==(const MeasuredDraft&) const = default;
};

struct ComputeDraft {
  Precision precision = Precision::float32;
  std::optional<ModelFamily> family;
  EfficiencyMap efficiency;
  std::vector<MeasuredDraft> measured;
};

MapTable<ComputeDraft> compute_table();

/// Measured speeds as samples per second. What is wrong with them becomes a problem of `root`, the workload.
std::vector<MeasuredSpeed> measured_speeds(Reader& reader, const Value& root, const ComputeDraft& compute,
                                           const Workload& workload);

}  // namespace ringside
