#include "analysis/check/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/check/expected_times.hpp"
#include "analysis/comparison/comparison.hpp"
#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

/// Quantile of the standard Gaussian at 95 %.
constexpr double kGaussian95 = 1.6449;

bool is_checked(const Point& point) {
  return point.measured && point.measured->outcome == Outcome::ok && point.measured->seconds.value > 0 &&
         point.key.algorithm == kNative && point.key.ranks > 1 && point.key.bytes.value > 0;
}

/// A band of sizes is called slow where a smaller share of machines is as slow. Together the bands may call
/// one healthy machine in twenty slow; long messages have most of that, because most faults show there.
/// false_alarms.hpp counts the alarms on sources held out. Small, middle and large.
constexpr std::array kRareShare = {0.02, 0.03, 0.05};

/// A machine in the slowest fifth may be healthy, and its owner wants to know what else it may be.
constexpr double kSlowFifth = 0.2;

/// Standard deviations of one half of the interval; never less than what repeating a measurement differs by.
double deviation(double at_end, double predicted) {
  constexpr double kRepeats = 0.03;
  return std::max(std::abs(std::log(at_end / predicted)) / kGaussian95, kRepeats);
}

/// How many deviations slower (positive) than predicted.
double deviations_off(const Point& point) {
  const Prediction& predicted = *point.predicted;
  const double off = std::log(point.measured->seconds.value / predicted.seconds.value);
  return off / deviation(off > 0 ? predicted.high->value : predicted.low->value, predicted.seconds.value);
}

double share_above(double deviations) { return 0.5 * std::erfc(deviations / std::sqrt(2.0)); }

std::optional<BandVerdict> band_verdict(const std::vector<Point>& points, SizeBand band) {
  std::vector<const Point*> of_band;
  std::vector<double> distances;
  std::vector<double> ratios;
  for (const Point& point : points) {
    if (size_band(static_cast<double>(point.key.bytes.value)) == band) {
      of_band.push_back(&point);
      distances.push_back(deviations_off(point));
      ratios.push_back(point.predicted->seconds.value / point.measured->seconds.value);
    }
  }
  if (of_band.empty()) {
    return std::nullopt;
  }
  const double middle = summarize(distances).median;
  BandVerdict verdict{.band = band,
                      .points = static_cast<int>(distances.size()),
                      .ratio = summarize(ratios).median,
                      .share_as_slow = share_above(middle)};
  // The larger one of two sizes on both sides of the median is what people quote.
  const Point& shown = **std::ranges::min_element(of_band, {}, [&](const Point* point) {
    return std::pair(std::round(1e6 * std::abs(deviations_off(*point) - middle)), -point->key.bytes.value);
  });
  verdict.bytes = shown.key.bytes;
  verdict.measured = gigabytes(shown.key, shown.measured->seconds);
  verdict.expected = {.low = gigabytes(shown.key, *shown.predicted->high),
                      .typical = gigabytes(shown.key, shown.predicted->seconds),
                      .high = gigabytes(shown.key, *shown.predicted->low)};
  return verdict;
}

bool speaks_for(std::span<const CauseEvidence> evidence, Cause cause) {
  return std::ranges::any_of(
      evidence, [cause](const CauseEvidence& one) { return one.speaks_for && one.cause == cause; });
}

/// Logarithm of time with the cause over time without, the band's median; 0 where it cannot apply.
double slowdown(ExpectedTimes& expected, Cause cause, std::span<const Point> points, SizeBand band) {
  std::vector<double> by;
  for (const Point& point : points) {
    const auto one = expected.log_slowdown(cause, point.key);
    if (one && size_band(static_cast<double>(point.key.bytes.value)) == band) {
      by.push_back(*one);
    }
  }
  const double median = by.empty() ? 0 : summarize(by).median;
  return median > kNoticedSlowdown ? median : 0;
}

/// Published machines of one description differ so much that a known fault need not stand out among them; the
/// log then counts more than the others' times.
void find_what_holds_back(MachineCheck& check, ExpectedTimes& expected,
                          std::span<const CauseEvidence> evidence) {
  if (std::ranges::none_of(evidence, [](const auto& one) { return one.speaks_for; })) {
    return;
  }
  const std::vector<SuspectedCause> causes = suspected_causes(expected, check.points, evidence);
  if (causes.empty() || causes.front().probability < 0.5 || !speaks_for(evidence, causes.front().cause)) {
    return;
  }
  double most = 0;
  for (BandVerdict& band : check.bands) {
    const double by = slowdown(expected, causes.front().cause, check.points, band.band);
    if (band.standing == Standing::healthy && band.ratio < 1 && by > 0) {
      band.standing = Standing::held_back;
      most = std::max(most, by);
      check.held_back = causes.front();
      check.held_back->ratio = std::exp(-most);
    }
  }
}

/// What the log says for other causes than the leading one, where they would slow the machine.
void find_hints(MachineCheck& check, ExpectedTimes& expected, std::span<const CauseEvidence> evidence) {
  for (const CauseEvidence& one : evidence) {
    const bool slows = std::ranges::any_of(check.bands, [&](const BandVerdict& band) {
      return slowdown(expected, one.cause, check.points, band.band) > 0;
    });
    if (one.speaks_for && slows && !(check.held_back && check.held_back->cause == one.cause)) {
      check.hints.push_back(one);
    }
  }
}

/// A ring brings its bus bandwidth out of each node. None on one node or without a ring.
std::optional<NicShare> nic_share(const NcclSystem& system, double line_rate, std::span<const Point> points) {
  const Collective collective = points.empty() ? Collective::send_recv : points.front().key.collective;
  const bool rings = collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
                     collective == Collective::all_gather;
  if (system.nodes < 2 || system.nics < 1 || !rings) {
    return std::nullopt;
  }
  NicShare share{.collective = collective,
                 .nodes = system.nodes,
                 .nics = system.nics,
                 .line_rate = line_rate,
                 .nvls = system.has_nvls()};
  double most = 0;
  for (const Point& point : points) {
    most = std::max(most, gigabytes(point.key, point.measured->seconds));
  }
  for (const Point& point : points) {
    const double rate = gigabytes(point.key, point.measured->seconds);
    // The largest of sizes that are alike.
    if (rate > 0.995 * most && point.key.bytes.value >= share.bytes.value) {
      share.busbw = rate;
      share.bytes = point.key.bytes;
    }
  }
  share.as_ring = share.busbw / share.nics;
  if (share.collective == Collective::all_reduce) {
    // A tree brings 2(N-1)/N of the message out of each of N nodes, a ring of n ranks 2(n-1)/n.
    const auto around = [](double n) { return (n - 1) / n; };
    share.tree_factor = around(system.ranks) / around(system.nodes);
  }
  return share;
}

}  // namespace

bool MachineCheck::alarmed() const {
  return std::ranges::any_of(bands,
                             [](const BandVerdict& band) { return band.standing == Standing::slower; });
}

void MachineCheck::withdraw(Standing instead) {
  for (BandVerdict& band : bands) {
    band.standing = band.standing == Standing::healthy ? instead : band.standing;
  }
}

std::vector<SuspectedCause> likely_causes(const MachineCheck& check) {
  constexpr std::size_t kMost = 3;
  constexpr double kLeast = 0.02;
  const auto none = std::ranges::find(check.causes, Cause::none, &SuspectedCause::cause);
  const double described = none == check.causes.end() ? 0 : none->probability;
  std::vector<SuspectedCause> causes;
  for (const SuspectedCause& one : check.causes) {
    // Without an alarm what fits the times better than the description counts.
    const double least = check.alarmed() ? described : described / kNoneBeforehand;
    if (one.cause != Cause::none && one.probability > std::max(least, kLeast) && causes.size() < kMost &&
        (check.alarmed() || one.cause != Cause::something_else)) {
      causes.push_back(one);
    }
  }
  return causes;
}

MachineCheck check_machine(const Machine& machine, std::span<const Point> points,
                           std::span<const CauseEvidence> evidence, const NcclFit& fit) {
  ExpectedTimes expected(machine, fit);
  return check_machine(expected, points, evidence);
}

MachineCheck check_machine(ExpectedTimes& expected, std::span<const Point> points,
                           std::span<const CauseEvidence> evidence) {
  MachineCheck check;
  for (const Point& point : points) {
    if (!is_checked(point)) {
      continue;
    }
    if (const auto& prediction = expected.predict(point.key)) {
      check.points.push_back({.key = point.key, .predicted = prediction, .measured = point.measured});
    }
  }
  for (const SizeBand band : {SizeBand::small, SizeBand::middle, SizeBand::large}) {
    if (auto verdict = band_verdict(check.points, band)) {
      const double rare = kRareShare.at(static_cast<std::size_t>(band));
      verdict->standing = verdict->share_as_slow < rare       ? Standing::slower
                          : 1 - verdict->share_as_slow < rare ? Standing::faster
                                                              : Standing::healthy;
      check.bands.push_back(*verdict);
    }
  }
  if (check.alarmed()) {
    check.causes = suspected_causes(expected, check.points, evidence);
  } else {
    find_what_holds_back(check, expected, evidence);
    find_hints(check, expected, evidence);
    const auto any = [&](auto&& is) { return std::ranges::any_of(check.bands, is); };
    if (!check.held_back && any([](const BandVerdict& band) { return band.share_as_slow < kSlowFifth; }) &&
        !any([](const BandVerdict& band) { return band.standing == Standing::faster; })) {
      check.causes = suspected_causes(expected, check.points, evidence);
    }
  }
  if (!check.points.empty()) {
    const auto& system = expected.system(Cause::none, check.points.front().key.ranks);
    const auto& network = expected.machine().inter;
    check.nics = system && network && network->rate
                     ? nic_share(*system, network->rate->value * 1e-9, check.points)
                     : std::nullopt;
  }
  return check;
}

Gate parse_gate(const std::string& text) {
  const auto reject = [&](std::string_view problem) {
    throw bad_key("gate '{}': {}; write it like 'busbw@1GiB >= p05' or 'time@8KiB <= p95'", text, problem);
  };
  std::string plain;
  std::ranges::copy_if(text, std::back_inserter(plain), [](char c) { return c != ' '; });
  Gate gate{.text = text};
  gate.of_time = plain.starts_with("time@");
  if (!gate.of_time && !plain.starts_with("busbw@")) {
    reject("names neither busbw@SIZE nor time@SIZE");
  }
  const std::string relation = gate.of_time ? "<=p" : ">=p";
  const std::size_t at = plain.find('@') + 1;
  const std::size_t end = plain.find(relation);
  if (end == std::string::npos) {
    reject(gate.of_time ? "a time is compared with <= and a quantile"
                        : "a bandwidth is compared with >= and a quantile");
  }
  gate.bytes = parse_bytes(plain.substr(at, end - at));
  const auto digits = parse_number<int>(plain.substr(end + relation.size()));
  if (!digits || *digits < 1 || *digits > 99) {
    reject("the quantile is one of p01 to p99");
  }
  // The slow end of times is the upper one.
  gate.quantile = gate.of_time ? 1 - *digits / 100.0 : *digits / 100.0;
  return gate;
}

GateOutcome apply_gate(const Gate& gate, const MachineCheck& check) {
  const auto found =
      std::ranges::find_if(check.points, [&](const Point& point) { return point.key.bytes == gate.bytes; });
  if (found == check.points.end()) {
    throw bad_key("gate: {} was not measured, or nothing predicts it", format(gate.bytes));
  }
  // The time that this share of machines exceeds: Gaussian halves of the interval, inverted by bisection.
  const Prediction& predicted = *found->predicted;
  double low = -9;
  double high = 9;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (share_above(middle) > gate.quantile ? low : high) = middle;
  }
  const double end = low > 0 ? predicted.high->value : predicted.low->value;
  const double seconds = predicted.seconds.value * std::exp(low * deviation(end, predicted.seconds.value));
  const double measured = found->measured->seconds.value;
  if (gate.of_time) {
    return {.passed = measured <= seconds, .measured = measured, .bound = seconds};
  }
  const auto rate = [&](double time) { return gigabytes(found->key, Seconds{time}); };
  return {.passed = measured <= seconds, .measured = rate(measured), .bound = rate(seconds)};
}

double gigabytes(const PointKey& key, Seconds time) {
  const auto rate = bus_bandwidth(key.collective, key.ranks, key.bytes, time);
  return rate ? rate->value * 1e-9 : 0;
}

std::string rate_text(double gigabytes) {
  return gigabytes >= 100  ? fmt::format("{:.0f}", gigabytes)
         : gigabytes >= 10 ? fmt::format("{:.1f}", gigabytes)
         : gigabytes >= 1  ? fmt::format("{:.2f}", gigabytes)
                           : fmt::format("{:.2g}", gigabytes);
}

std::string sentence(const NicShare& share) {
  constexpr double kExceeds = 1.05;
  const double of_line = share.as_ring / share.line_rate;
  const std::string per_nic = fmt::format(
      "Per NIC: {:.1f} GB/s, {} of its line rate of {:.1f} GB/s ({} GB/s at {} over {} of a node).",
      share.as_ring, percent(of_line), share.line_rate, rate_text(share.busbw), format(share.bytes),
      count_of(share.nics, "NIC"));
  if (share.collective != Collective::all_reduce) {
    return per_nic;
  }
  if (of_line > kExceeds * share.tree_factor) {
    return per_nic +
           " No algorithm of NCCL's exceeds the line rate by so much: is the network described right?";
  }
  if (share.tree_factor < kExceeds) {
    return per_nic + " No algorithm exceeds the line rate with one GPU a node.";
  }
  const double ring_reaches = share.line_rate * share.nics;
  return fmt::format("{} A ring reaches at most {} GB/s; {} may reach {} GB/s on {} nodes.", per_nic,
                     rate_text(ring_reaches), share.nvls ? "Tree and NVLSTree" : "Tree",
                     rate_text(ring_reaches * share.tree_factor), share.nodes);
}

}  // namespace ringside
