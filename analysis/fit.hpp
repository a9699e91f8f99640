#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/probe_sample.hpp"
#include "scenario/machine/machine.hpp"

/// Point-to-point probes → α, β, γ and the measured curves. Pure; `cores` and `backend` of the result are
/// left to the caller, who knows them.
namespace ringside {

/// Every size of every probe is first reduced to the common median of its repetitions (repetitions.hpp), so
/// that a few interrupted calls count for nothing, nor does a repetition that was disturbed.
///
/// α and β: t(S) = α + β·S through the ping_pong medians, least sum of absolute relative errors, neither
/// negative: sizes off the line (a rate limiter's free bytes, a change of protocol) bend it less than squares
/// would. Above the largest ping_pong size, stream medians take part as t(S) = β·S. 95 % intervals:
/// covariance of the fit (mean absolute residual, Student's t with n − 2 degrees); none with fewer than three
/// sizes, no upper end of the bandwidth when β may be 0. Source: G. Bassett, R. Koenker,
/// "Asymptotic theory of least absolute error regression", J. American Statistical Association 73(363), 1978.
///
/// γ: median of seconds / bytes over one rank's reductions at the largest size and down to a quarter of it
/// (out of cache); 95 % interval from order statistics. 0 without probes.
///
/// `curves`: the medians of each kind of probe by ranks, messages and size, those of monotone kinds
/// (results/probe_kind.hpp) made non-decreasing (isotonic regression).
///
/// `spread`: spread_of() the ping_pong, neighbour exchange and fan_out probes. Not sends: a sender on a slow
/// link is busy for a hundredth of the message's time, and that part scatters by half.
/// `reduction_spread`: the same of reductions, whose noise is the processor's and the memory's at any size.
///
/// Throws Error{failed} when the ping_pong probes have fewer than two sizes or show no cost per byte.
Calibrated fit_probes(std::span<const ProbeSample> samples);

/// What a further byte takes by the ping_pong probes; none where they are of fewer than two sizes or show no
/// such cost, so that fit_probes() would throw.
std::optional<SecondsPerByte> cost_per_byte(std::span<const ProbeSample> samples);

/// Probes that contradict each other, as a sentence: no cost per byte, or one message alone between two ranks
/// that takes more than three times as long as when both send at once. Such probes are made again.
std::optional<std::string> contradiction(std::span<const ProbeSample> samples);

/// The matrix of probe_pairs(): each ordered pair, by `from` and then by `to`; medians over repetitions.
/// Pairs that were not probed in all three ways are left out.
std::vector<PairPoint> pair_matrix(std::span<const ProbeSample> samples);

/// α + β·S.
struct LinearCost {
  Seconds latency = {};
  SecondsPerByte inverse_bandwidth = {};
  std::optional<Interval<double>> latency_interval = {};   ///< 95 %, seconds
  std::optional<Interval<double>> per_byte_interval = {};  ///< 95 %, seconds per byte
};

/// The line through `times` (not empty) with the least sum of absolute relative errors, α and β not negative;
/// `streamed` times cost β·S alone. Intervals as of fit_probes().
LinearCost fit_line(std::span<const CurvePoint> times, std::span<const CurvePoint> streamed = {});

/// Isotonic regression: a non-decreasing sequence nearest to `values` by the sum of absolute differences, so
/// that one size that was disturbed does not move its neighbours. Source: pool adjacent violators with
/// medians, Robertson, Wright and Dykstra, "Order restricted statistical inference", 1988, chapter 1.
std::vector<double> non_decreasing(std::span<const double> values);

}  // namespace ringside
