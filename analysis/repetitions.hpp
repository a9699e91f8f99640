#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "results/probe_kind.hpp"
#include "results/probe_sample.hpp"
#include "scenario/machine/machine.hpp"

/// What several repetitions of the same probes tell: their common median, how far they lie apart, and whether
/// something disturbed them.
namespace ringside {

/// How many deviations from the middle a 90 % interval of normally distributed values reaches.
inline constexpr double kNormal90 = 1.645;

/// A probe of one kind.
struct ProbePlace {
  int ranks = 0;
  int messages = 1;
  Bytes bytes;

  auto operator<=>(const ProbePlace&) const = default;
};

/// The calls of each repetition, seconds; no repetition is empty.
using Repeated = std::vector<std::vector<double>>;

/// The median call when every repetition weighs the same, however many calls it made: a repetition
/// that was disturbed makes more calls, because its median is less certain. `repeated` is not empty.
double common_median(std::span<const std::vector<double>> repeated);

/// By the place of their curve: of kinds that are probed by a part of the ranks, however many were started.
std::map<ProbePlace, Repeated> repetitions_of(std::span<const ProbeSample> samples, const ProbeKindRow& row);

/// At each size of the wanted kinds that ran in several repetitions: how far the common median of a
/// measurement of half as many repetitions lies from that of all of these, as a standard deviation of its
/// logarithm, apart for faster and for slower ones. Every half of the repetitions is taken once, corrected
/// for sharing repetitions with the whole; where the common median is more than 1.5 times the fastest
/// repetition, on the fast side at least so much that a 90 % interval reaches that one: the measurement may
/// find the machine as it was then; pooled over the probes whose size is within a factor of four. Divided by
/// √2, so that it stands for the probes alone. Never less than 1.3 %, to which the medians that predictions
/// are compared with are measured. Empty with one repetition.
std::vector<SpreadPoint> spread_of(std::span<const ProbeSample> samples,
                                   const std::function<bool(const ProbeKindRow&)>& wanted);

/// How often the machine was disturbed: `share` of the probes took more than 1.5 times their second fastest
/// repetition, `slower` times in the middle. None where fewer than a
/// tenth did, as on a quiet machine. What the kernel knows of it is left to the caller.
std::optional<Disturbance> disturbance(std::span<const ProbeSample> samples);

}  // namespace ringside
