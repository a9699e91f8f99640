#pragma once

#include <string>
#include <vector>

#include "analysis/plan/planner.hpp"
#include "analysis/plan/thresholds.hpp"

/// What an estimate means, in whole sentences.
namespace ringside {

/// `1.5 h`, `12 min`, `30 s`.
std::string long_time(double seconds);
/// As people call sizes of models: `85.2 MB`.
std::string model_size(Bytes size);

/// More of a step than this is lost to synchronising where links are the bottleneck.
inline constexpr double kBottleneck = 0.5;

/// What is trained: data set, epochs, batch; or where nothing is computed, what is sent.
std::string workload_sentence(const Plan& plan);
/// `1 B tokens`
std::string token_text(double tokens);

/// `is not the bottleneck` or `typically slows training down and may be the bottleneck`.
std::string bottleneck_words(const Interval<double>& exposed_share);

/// Is communication the bottleneck on this offer, from which bandwidth on is it not, which algorithm is
/// faster there and why, and what else would help. The offer has an estimate.
std::vector<std::string> explain(Planner& planner, const Plan& plan, const Offer& offer,
                                 const PlannedStep& step, const Thresholds& found);

/// What a renter should know of an offer, whole sentences; `run`: how long it is rented, if known.
std::vector<std::string> warnings_of(const Offer& offer, const std::optional<Interval<Seconds>>& run);

/// `buckets of 5 MiB`, `one_bucket`: what differs from the plan.
std::string describe(const Alternative& alternative, const Plan& plan);

/// Brings exposed communication below 10 %: `links 3.2 times as fast (80 GB/s) or accumulate 8`.
std::string remedy(const Thresholds& found, const Offer& offer);

}  // namespace ringside
