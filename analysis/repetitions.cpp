#include "analysis/repetitions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/error.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "results/measurement.hpp"

namespace ringside {
namespace {

/// Sizes up to this many times smaller or larger are alike: the next ones down and up of those probed.
constexpr std::int64_t kAlike = 4;

/// A median that is compared with a prediction is itself only known to this: its measurement ends when the 95
/// % interval, 2·1.96 deviations, is as narrow as asked for.
double least_spread() { return kMeasuredInterval / (2 * 1.96); }

/// Logarithms of a half's common median over that of all, corrected for what the two share.
std::vector<double> deviations(const Repeated& repeated) {
  // Beyond this many, halves of neighbours tell as much as all halves, of which there are too many.
  constexpr std::size_t kMostChosen = 8;
  const std::size_t num_all = repeated.size();
  const std::size_t num_half = num_all / 2;
  const double whole = std::log(common_median(repeated));
  // With n repetitions of variance v, half h and all: v·(1/h − 1/n), two independent: v·(1/h + 1/n).
  const auto all = static_cast<double>(num_all);
  const auto half = static_cast<double>(num_half);
  const double made_up = std::sqrt((all + half) / (all - half) / 2);
  std::vector<double> result;
  const auto add = [&](const Repeated& chosen) {
    result.push_back(made_up * (std::log(common_median(chosen)) - whole));
  };
  Repeated chosen;
  if (num_all > kMostChosen) {
    for (std::size_t first = 0; first < num_all; ++first) {
      chosen.clear();
      for (std::size_t i = 0; i < num_half; ++i) {
        chosen.push_back(repeated[(first + i) % num_all]);
      }
      add(chosen);
    }
    return result;
  }
  std::vector<bool> taken(num_all, false);
  std::fill(taken.end() - static_cast<std::ptrdiff_t>(num_half), taken.end(), true);
  do {
    chosen.clear();
    for (std::size_t i = 0; i < num_all; ++i) {
      if (taken[i]) {
        chosen.push_back(repeated[i]);
      }
    }
    add(chosen);
  } while (std::next_permutation(taken.begin(), taken.end()));
  return result;
}

/// Squares of one side, of so many deviations on either.
struct Scatter {
  double faster = 0;
  double slower = 0;
  double count = 0;

  void add(const Scatter& other) {
    faster += other.faster;
    slower += other.slower;
    count += other.count;
  }
};

/// Medians of the repetitions, ascending.
std::vector<double> medians_of(const Repeated& repeated) {
  std::vector<double> medians =
      mapped(repeated, [](const std::vector<double>& repetition) { return summarize(repetition).median; });
  std::ranges::sort(medians);
  return medians;
}

constexpr std::size_t kLeastRepetitions = 3;

/// The undisturbed machine: the fastest repetition may just have begun in a lucky moment.
double undisturbed(const std::vector<double>& ascending) { return ascending[1]; }

/// A repetition that took so many times as long as another one was disturbed.
constexpr double kSlow = 1.5;

/// The deviation with which the fast end of a 90 % interval reaches the fastest repetition, where most were
/// disturbed.
double deviation_to_fastest(const Repeated& repeated) {
  const double slower = common_median(repeated) / medians_of(repeated).front();
  return slower > kSlow ? std::log(slower) / (kNormal90 * std::sqrt(2.0)) : 0;
}

/// A measurement may find the machine as the fastest repetition did, however many others did not.
Scatter scatter_of(const Repeated& repeated) {
  Scatter scatter;
  const std::vector<double> all = deviations(repeated);
  for (const double deviation : all) {
    (deviation < 0 ? scatter.faster : scatter.slower) +=
        deviation * deviation / static_cast<double>(all.size());
  }
  scatter.count = 1;
  const double to_fastest = deviation_to_fastest(repeated);
  scatter.faster =
      std::max(scatter.faster, to_fastest * to_fastest / 2);  // Half of the deviations are on this side.
  return scatter;
}

}  // namespace

double common_median(std::span<const std::vector<double>> repeated) {
  RINGSIDE_CHECK(!repeated.empty(), "a median of nothing");
  std::vector<std::pair<double, double>> calls;  // Seconds, and the weight of the call.
  for (const std::vector<double>& repetition : repeated) {
    for (const double seconds : repetition) {
      calls.emplace_back(seconds, 1.0 / static_cast<double>(repetition.size()));
    }
  }
  std::ranges::sort(calls);
  const double half = static_cast<double>(repeated.size()) / 2;
  // Weights are sums of fractions.
  constexpr double kRounding = 1e-9;
  double weight = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    weight += calls[i].second;
    if (weight > half + kRounding || i + 1 == calls.size()) {
      return calls[i].first;
    }
    if (weight > half - kRounding) {
      return (calls[i].first + calls[i + 1].first) / 2;
    }
  }
  return calls.back().first;
}

std::map<ProbePlace, Repeated> repetitions_of(std::span<const ProbeSample> samples, const ProbeKindRow& row) {
  std::map<ProbePlace, Repeated> result;
  for (const ProbeSample& sample : samples) {
    if (sample.key.kind != row.kind || sample.seconds.empty() || sample.key.bytes.value <= 0) {
      continue;
    }
    for (const double seconds : sample.seconds) {
      RINGSIDE_CHECK(std::isfinite(seconds) && seconds > 0, "a probe took no time");
    }
    const ProbePlace place = {.ranks = row.ranks_of_curve > 0 ? row.ranks_of_curve : sample.key.ranks,
                              .messages = sample.key.messages,
                              .bytes = sample.key.bytes};
    result[place].push_back(sample.seconds);
  }
  return result;
}

std::vector<SpreadPoint> spread_of(std::span<const ProbeSample> samples,
                                   const std::function<bool(const ProbeKindRow&)>& wanted) {
  std::map<Bytes, Scatter> scatters;
  for (const ProbeKindRow& row : probe_kinds()) {
    if (!wanted(row)) {
      continue;
    }
    for (const auto& [place, repeated] : repetitions_of(samples, row)) {
      if (repeated.size() > 1) {
        scatters[place.bytes].add(scatter_of(repeated));
      }
    }
  }
  std::vector<SpreadPoint> spread;
  for (const auto& [bytes, own] : scatters) {
    Scatter pooled;
    for (const auto& [other, scatter] : scatters) {
      if (other.value <= kAlike * bytes.value && bytes.value <= kAlike * other.value) {
        pooled.add(scatter);
      }
    }
    // Half of the deviations are on either side.
    const auto deviation = [&](double squares) {
      return std::max(least_spread(), std::sqrt(squares / (pooled.count / 2)));
    };
    spread.push_back(
        {.bytes = bytes, .deviation = deviation(pooled.faster), .slow_deviation = deviation(pooled.slower)});
  }
  return spread;
}

std::optional<Disturbance> disturbance(std::span<const ProbeSample> samples) {
  constexpr double kQuietShare = 0.1;
  int probes = 0;
  std::vector<double> slow;
  for (const ProbeKindRow& row : probe_kinds()) {
    for (const auto& [place, repeated] : repetitions_of(samples, row)) {
      if (repeated.size() < kLeastRepetitions) {
        continue;
      }
      const std::vector<double> medians = medians_of(repeated);
      probes += static_cast<int>(medians.size());
      for (const double seconds : medians) {
        if (seconds > kSlow * undisturbed(medians)) {
          slow.push_back(seconds / undisturbed(medians));
        }
      }
    }
  }
  const double share = probes > 0 ? static_cast<double>(slow.size()) / probes : 0;
  if (share < kQuietShare) {
    return std::nullopt;
  }
  return Disturbance{.share = share, .slower = summarize(slow).median};
}

}  // namespace ringside
