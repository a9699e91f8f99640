#include "study/predicted.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/point_sentences.hpp"
#include "common/failures.hpp"
#include "common/text.hpp"
#include "schedule/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/topology/gpu_models.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::study {
namespace {

/// A GPU that no data sheet is known of is taken for one of its kind.
void say_what_a_gpu_is_taken_for(const Machine& machine, const Observer& observer) {
  if (!machine.gpu || machine.calibrated) {
    return;
  }
  const GpuModel gpu = gpu_model(machine);
  if (gpu.taken_from == 0) {
    return;
  }
  const auto rate = [](double value) { return format(BytesPerSecond{value}); };
  observer.note(fmt::format(
      "No data sheet of {} is known: it is taken for one of the {} GPUs{} {}, whose memory passes {}.",
      gpu.name, gpu.taken_from, gpu.architecture ? fmt::format(" ({})", name(*gpu.architecture)) : "",
      gpu.alike ? "that have such links or architecture" : "of the catalogue",
      gpu.memory_bandwidth.low < gpu.memory_bandwidth.high
          ? fmt::format("{} to {}", rate(gpu.memory_bandwidth.low), rate(gpu.memory_bandwidth.high))
          : rate(gpu.memory_bandwidth.typical)));
}

/// Where ranks stand that do not fill their nodes.
void say_placement(const Scenario& scenario, const Observer& observer) {
  if (!scenario.machine || !scenario.machine->gpus_per_node) {
    return;
  }
  const int gpus = *scenario.machine->gpus_per_node;
  const int per_node = scenario.machine->ranks_per_node.value_or(gpus);
  for (const int ranks : scenario.ranks) {
    const int nodes = (ranks + per_node - 1) / per_node;
    const int last = ranks - (nodes - 1) * per_node;
    const bool fills = last == gpus && per_node == gpus;
    // A cluster of which two nodes were probed has as many as the ranks need.
    if (ranks < 2 || (fills && nodes >= scenario.machine->nodes)) {
      continue;
    }
    const std::string where =
        fills              ? fmt::format("on {} of the {} nodes of {} GPUs",
                            nodes == 1 ? "the first" : std::to_string(nodes), scenario.machine->nodes, gpus)
        : nodes == 1       ? fmt::format("on the first {} of one node's {} GPUs", ranks, gpus)
        : last == per_node ? fmt::format("{} on each of {} nodes of {} GPUs", per_node, nodes, gpus)
                           : fmt::format("{} on each of {} nodes of {} GPUs, and {} on one more", per_node,
                                         nodes - 1, gpus, last);
    observer.note(fmt::format("{} ranks stand {}.", ranks, where));
  }
}

/// Where no schedule of ours is that of an MPI library's own collective.
void say_what_stands_for_native(const std::vector<Point>& points, const Machine& machine,
                                const PredictOptions& options, const Observer& observer) {
  std::set<std::string> others;
  for (const Point& point : points) {
    const auto call = point.predicted ? mpi_call_on(machine, point.key, options.backend) : std::nullopt;
    if (call && call->ranks > 1) {
      others.insert(predicted_as(mpi_plan(machine.software.mpi, *call)));
    }
  }
  others.erase("");
  if (!others.empty()) {
    observer.note(fmt::format(
        "native is predicted as {}{}; `ringside show native` says what runs.", *others.begin(),
        others.size() == 1 ? "" : fmt::format(" (at some sizes {})", *std::next(others.begin()))));
  }
}

/// A replay knows no link that messages share, but for how long the busiest takes to carry them all.
void say_what_replay_leaves_out(const std::vector<Point>& points, const Observer& observer) {
  std::set<std::string> links;
  std::int64_t held_back = 0;
  for (const Point& point : points) {
    if (point.predicted && point.predicted->fidelity == Fidelity::replay &&
        !point.predicted->limits.empty()) {
      links.insert(point.predicted->limits.front().link);
      ++held_back;
    }
  }
  if (held_back > 0) {
    const std::vector<std::string> named(links.begin(), links.end());
    observer.note(
        fmt::format("Replay gives each message its own links. At {} the busiest link alone takes longer, and "
                    "its time counts: {}. Fidelity flow shares links.",
                    count_of(held_back, "point"), first_few(named, 4)));
  }
}

}  // namespace

void require_predictions(const PointStudy& study) {
  if (std::ranges::none_of(study.points, [](const Point& point) { return point.predicted.has_value(); })) {
    throw lacking("nothing can be predicted. {}", fmt::join(study.unpredicted, ". "));
  }
}

void require_use_of_nodes(const Scenario& scenario) {
  if (!scenario.machine || scenario.machine->nodes < 2 || !scenario.machine->gpus_per_node) {
    return;
  }
  const int per_node = scenario.machine->ranks_per_node.value_or(*scenario.machine->gpus_per_node);
  const int most = *std::ranges::max_element(scenario.ranks);
  if (most > 1 && most <= per_node) {
    throw bad_input(
        "{}: ranks: {} of them all stand on the first of {} nodes of {} GPUs; ask for up "
        "to {}, place fewer "
        "on each node (`ranks_per_node`), or write `nodes: 1`",
        scenario.file.string(), most, scenario.machine->nodes, *scenario.machine->gpus_per_node,
        scenario.machine->nodes * per_node);
  }
}

Conclusions conclude(const std::vector<Point>& points, bool fitted) {
  Conclusions conclusions{.pair = choose_pair(points)};
  if (conclusions.pair) {
    for (const Verdict& verdict : verdicts(points, *conclusions.pair)) {
      conclusions.records.emplace_back(verdict);
    }
    conclusions.crossovers = crossovers(points, *conclusions.pair);
    for (const Crossover& crossover : conclusions.crossovers) {
      conclusions.records.emplace_back(crossover);
    }
  }
  conclusions.accuracy = accuracy(points);
  for (const Accuracy& record : conclusions.accuracy) {
    conclusions.records.emplace_back(record);
  }
  if (fitted) {
    conclusions.fitted = fitted_curves(points);
  }
  conclusions.sentences = verdict_sentences(points);
  const std::vector<std::string> policies = policy_sentences(points);
  conclusions.sentences.insert(conclusions.sentences.end(), policies.begin(), policies.end());
  return conclusions;
}

void draw_conclusions(PointStudy& study, bool fitted) {
  study.conclusions = conclude(study.points, fitted);
  if (std::optional<std::string> sentence = disturbance_sentence(study.machine)) {
    study.conclusions.sentences.push_back(*std::move(sentence));
  }
}

std::optional<SpeedupGrid> speedup_grid(const PointStudy& study) {
  return study.conclusions.pair ? std::optional(ringside::speedup_grid(study.scenario, study.machine,
                                                                       study.points, *study.conclusions.pair))
                                : std::nullopt;
}

std::vector<std::string> predict_points(std::vector<Point>& points, const Machine& machine,
                                        const PredictOptions& options, const Observer& observer) {
  std::set<std::string> reasons;
  std::vector<std::string> noted;
  for (Point& point : points) {
    if (point.predicted) {
      continue;
    }
    const auto outcome = ringside::predict(machine, point.key, options);
    if (const auto* prediction = std::get_if<Prediction>(&outcome)) {
      point.predicted = *prediction;
    } else {
      const std::string& reason = std::get<Unpredicted>(outcome).reason;
      if (reasons.insert(point.key.algorithm + reason).second) {
        noted.push_back(fmt::format("No prediction of {}: {}", point.key.algorithm, reason));
        observer.note(noted.back());
      }
    }
  }
  return noted;
}

PointStudy predicted(Scenario scenario, Machine machine, const PredictOptions& options,
                     const NativeChoices& native, const Observer& observer) {
  PointStudy study{.scenario = std::move(scenario), .machine = std::move(machine)};
  say_placement(study.scenario, observer);
  study.points = open_points(points_of(study.scenario));
  study.unpredicted = predict_points(study.points, study.machine, options, observer);
  say_what_stands_for_native(study.points, study.machine, options, observer);
  say_what_replay_leaves_out(study.points, observer);
  say_what_a_gpu_is_taken_for(study.machine, observer);
  require_use_of_known(study.points, study.machine, native);
  draw_conclusions(study, false);
  study.native = native_findings(study.points, study.machine);
  return study;
}

}  // namespace ringside::study
