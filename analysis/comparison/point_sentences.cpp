#include "analysis/comparison/point_sentences.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "results/codec/record.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/system.hpp"

namespace ringside {
namespace {

std::string shared_link(const Limit& limit) {
  std::string sentence = fmt::format("{} flows share {}", limit.flows, limit.link);
  if (limit.crossings > limit.flows) {
    sentence += fmt::format(" ({} crossings)", limit.crossings);
  }
  if (limit.others) {
    sentence += "; other links of this kind are shared alike";
  }
  return sentence;
}

std::string class_sentence(const Point& point) {
  const Prediction& predicted = *point.predicted;
  if (predicted.no_classes) {
    return fmt::format("{}: all {} ranks were simulated, since {}", point.key.algorithm, point.key.ranks,
                       *predicted.no_classes);
  }
  std::string text =
      fmt::format("{}: {} simulated as {}, alike in what they do and when", point.key.algorithm,
                  count_of(point.key.ranks, "rank"), count_of(*predicted.rank_classes, "class", "classes"));
  if (!predicted.limits.empty()) {
    text += "; the busiest link: " + limit_sentence(predicted.limits.front());
  }
  return text;
}

/// Less is what any idle system uses.
constexpr double kNoticed = 0.1;

std::string causes_of(const Disturbance& disturbance, std::optional<int> cores) {
  std::vector<std::string> causes;
  if (disturbance.other_load >= kNoticed) {
    causes.push_back(fmt::format("other processes used {:.1f}{} cores", disturbance.other_load,
                                 cores ? fmt::format(" of {}", *cores) : ""));
  }
  if (disturbance.stolen >= kNoticed) {
    causes.push_back(fmt::format("the hypervisor gave {:.1f} cores to others", disturbance.stolen));
  }
  if (disturbance.throttled >= kNoticed) {
    causes.push_back("its container had used up its CPU quota");
  }
  return causes.empty() ? std::string("for a reason unknown to the kernel")
                        : fmt::format("while {}", fmt::join(causes, " and "));
}

/// The class as scripts/accuracy-page calls it.
std::string_view class_of(NcclKind kind, Collective collective) {
  if (collective != Collective::all_reduce) {
    return kind == NcclKind::nvlink ? "other collectives on one node, NVLink or xGMI" : "";
  }
  return kind == NcclKind::nvlink          ? "one node, NVLink or xGMI"
         : kind == NcclKind::rdma          ? "several nodes, InfiniBand or RoCE, two or more GPUs each"
         : kind == NcclKind::other_network ? "several nodes, the rest"
                                           : "one node, PCIe";
}

/// The use of NICs by one algorithm on nodes with so many NICs.
struct NicRange {
  std::string algorithm;
  int of = 0;
  int least = 0;
  int most = 0;
};

/// In the order of their first prediction.
std::vector<NicRange> ranges_of(std::span<const AlgorithmNics> predicted) {
  std::vector<NicRange> ranges;
  for (const AlgorithmNics& each : predicted) {
    const auto known = std::ranges::find_if(ranges, [&](const NicRange& range) {
      return range.algorithm == each.algorithm && range.of == each.nics.of;
    });
    if (known == ranges.end()) {
      ranges.push_back(
          {.algorithm = each.algorithm, .of = each.nics.of, .least = each.nics.used, .most = each.nics.used});
    } else {
      known->least = std::min(known->least, each.nics.used);
      known->most = std::max(known->most, each.nics.used);
    }
  }
  return ranges;
}

/// Neighbouring sizes of which the same is to be said.
struct Difference {
  PointKey first;
  Bytes last;
  ExecutionPolicy predicted;
  ExecutionPolicy measured;
};

bool is_about(const Difference& difference, const Point& point) {
  return difference.first.algorithm == point.key.algorithm && difference.first.ranks == point.key.ranks &&
         difference.predicted == *point.predicted->policy && difference.measured == *point.measured->policy;
}

}  // namespace

std::string limit_sentence(const Limit& limit) {
  switch (limit.kind) {
    case Limit::Kind::shared_link:
      return shared_link(limit);
    case Limit::Kind::shared_cores:
      return fmt::format("{} ranks share {} CPU cores", limit.ranks, limit.cores);
    case Limit::Kind::contention:
      return fmt::format("probes show that simultaneous messages take {} as long as one alone",
                         factor_text(limit.factor, 1));
    case Limit::Kind::model:
      return limit.text;
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a limit has no sentence");
}

std::string limit_sentences(std::span<const Limit> limits) {
  const std::vector<std::string> sentences = mapped(limits, limit_sentence);
  return fmt::format("{}", fmt::join(sentences, "; "));
}

std::vector<std::string> class_sentences(std::span<const Point> points) {
  std::vector<const Point*> largest;  // One per algorithm, in the order of their first points.
  for (const Point& point : points) {
    if (!point.predicted || (!point.predicted->rank_classes && !point.predicted->no_classes)) {
      continue;
    }
    const auto known = std::ranges::find_if(
        largest, [&](const Point* other) { return other->key.algorithm == point.key.algorithm; });
    if (known == largest.end()) {
      largest.push_back(&point);
    } else if (std::tie(point.key.ranks, point.key.bytes) >
               std::tie((*known)->key.ranks, (*known)->key.bytes)) {
      *known = &point;
    }
  }
  return mapped(largest, [](const Point* point) { return class_sentence(*point); });
}

std::optional<std::string> disturbance_sentence(const Machine& machine) {
  if (!machine.calibrated || !machine.calibrated->disturbance) {
    return std::nullopt;
  }
  const Disturbance& disturbance = *machine.calibrated->disturbance;
  const std::string causes = causes_of(disturbance, machine.calibrated->cores);
  if (disturbance.share == 0) {
    return fmt::format("this machine was disturbed, {}; intervals are wider for it", causes);
  }
  return fmt::format(
      "this machine was disturbed: {} of its probes took {} as long as others, {}; predictions are for its "
      "{} state, and their intervals cover both",
      percent(disturbance.share), factor_text(disturbance.slower, 1), causes,
      disturbance.share < 0.5 ? "faster" : "usual, slower");
}

std::string held_out_sentence(const std::vector<Point>& points, const Machine& machine) {
  const auto point = std::ranges::find_if(points, [](const Point& one) {
    return one.key.algorithm == kNative && one.predicted && one.predicted->source == CostSource::spec;
  });
  if (point == points.end()) {
    return {};
  }
  const auto described = nccl_system(machine, point->key.ranks);
  const auto* system = std::get_if<NcclSystem>(&described);
  const std::string_view name = system == nullptr ? "" : class_of(system->kind(), point->key.collective);
  std::istringstream lines{std::string(kHeldOutErrors)};
  for (std::string line; std::getline(lines, line);) {
    const auto record = std::get<Accuracy>(*parse_record(line));
    if (record.machine_class == name) {
      return fmt::format(
          "native: on {} published systems ({}), each predicted without its source, the mean error of the "
          "median system is {}; {} of the measured times lie inside their 90 % interval.",
          *record.systems, name, percent(record.mape), percent(*record.coverage));
    }
  }
  return {};
}

std::vector<std::string> nic_sentences(std::span<const AlgorithmNics> predicted) {
  const std::vector<NicRange> ranges = ranges_of(predicted);
  std::map<std::tuple<int, int, int>, std::vector<std::string>> by_use;
  for (const NicRange& range : ranges) {
    if (range.least < range.of) {
      by_use[{range.of, range.least, range.most}].push_back(range.algorithm);
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [use, algorithms] : by_use) {
    const auto& [of, least, most] = use;
    const bool beside_native = std::ranges::any_of(ranges, [nics = of](const NicRange& range) {
      return range.algorithm == kNative && range.of == nics && range.least == nics;
    });
    sentences.push_back(fmt::format(
        "{} {} {} of the {} NICs of a node{}", fmt::join(algorithms, ", "),
        algorithms.size() == 1 ? "uses" : "use", consecutive("", least, most, " to "), of,
        beside_native
            ? fmt::format(
                  ", native all {}: NCCL runs several rings or trees at once that leave a node through "
                  "different NICs",
                  of)
            : ""));
  }
  return sentences;
}

bool policies_differ(const Point& point) {
  return point.predicted && point.predicted->policy && point.measured && point.measured->policy &&
         point.measured->outcome == Outcome::ok && *point.predicted->policy != *point.measured->policy;
}

std::string policy_difference(const ExecutionPolicy& predicted, const ExecutionPolicy& measured) {
  return fmt::format("predicted for {}, but measured with {}", describe(predicted), describe(measured));
}

std::vector<std::string> policy_sentences(std::span<const Point> points) {
  std::vector<Difference> differences;
  for (const Point& point : points) {
    if (!policies_differ(point)) {
      continue;
    }
    const auto known = std::ranges::find_if(
        differences, [&](const Difference& difference) { return is_about(difference, point); });
    if (known != differences.end()) {
      known->last = std::max(known->last, point.key.bytes);
    } else {
      differences.push_back({.first = point.key,
                             .last = point.key.bytes,
                             .predicted = *point.predicted->policy,
                             .measured = *point.measured->policy});
    }
  }
  std::vector<std::string> sentences;
  for (const Difference& difference : differences) {
    const std::string sizes = from_to(difference.first.bytes, difference.last);
    sentences.push_back(fmt::format("{} on {} ranks, {}: {}", difference.first.algorithm,
                                    difference.first.ranks, sizes,
                                    policy_difference(difference.predicted, difference.measured)));
  }
  return sentences;
}

}  // namespace ringside
