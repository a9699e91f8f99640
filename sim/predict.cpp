#include "sim/predict.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "schedule/promise.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/chunk_sizes.hpp"
#include "sim/closed_form.hpp"
#include "sim/gloo_ring.hpp"
#include "sim/network.hpp"
#include "sim/replay.hpp"

namespace ringside {

namespace {

/// What a point's algorithm is priced as.
struct Model {
  const Algorithm* algorithm = nullptr;
  int slices = 0;  ///< As in ScheduleRequest.
};

const Algorithm& known_algorithm(Collective collective, const std::string& algorithm) {
  if (const Algorithm* found = find_algorithm(collective, algorithm)) {
    return *found;
  }
  std::vector<std::string> known = algorithm_names(collective);
  known.emplace_back(kNative);
  throw Error(ErrorKind::bad_input,
              unknown_name(fmt::format("{} algorithm", name(collective)), algorithm, known));
}

std::variant<Model, Unpredicted> native_model(const Machine& machine, const PointKey& key, Backend backend) {
  if (backend == Backend::automatic) {
    backend = machine.gpu ? Backend::nccl : Backend::gloo;
  }
  if (backend != Backend::gloo) {
    return Unpredicted{
        fmt::format("what {} does for its own {} is not modelled", name(backend), name(key.collective))};
  }
  if (key.collective != Collective::all_reduce) {
    return Unpredicted{
        fmt::format("Gloo's own {} is not modelled, only its all_reduce", name(key.collective))};
  }
  return Model{.algorithm = &known_algorithm(key.collective, "pipelined_ring"),
               .slices = gloo_ring_slices(key.bytes, key.dtype, key.ranks)};
}

std::variant<Model, Unpredicted> model_of(const Machine& machine, const PointKey& key, Backend backend) {
  if (key.algorithm == kNative) {
    return native_model(machine, key, backend);
  }
  return Model{.algorithm = &known_algorithm(key.collective, key.algorithm)};
}

ScheduleRequest request_for(const Network& network, const PointKey& key, int slices) {
  return {.collective = key.collective,
          .num_ranks = key.ranks,
          .ranks_per_node = network.ranks_per_node,
          .slices = slices,
          // Where each rank ends with its own part of the message, positions are ranks.
          .order = scattered(key.collective) ? std::vector<Rank>{} : network.order};
}

bool has_stragglers(const Network& network) {
  return std::any_of(network.slowdown.begin(), network.slowdown.end(),
                     [](double factor) { return factor != 1; });
}

/// Why the closed form does not hold here; empty where it does.
std::string closed_form_obstacle(const Network& network, const PredictOptions& options) {
  if (network.processor) {
    return fmt::format("its {} ranks share {} CPU cores", network.num_ranks, network.processor->cores);
  }
  if (has_stragglers(network)) {
    return "it has stragglers";
  }
  if (!network.uniform) {
    return "its links are shared or differ from pair to pair";
  }
  if (options.eager_threshold.value > 0) {
    return "an eager threshold is given";
  }
  return {};
}

Fidelity fidelity_for(const Network& network, const PredictOptions& options) {
  const std::string obstacle = closed_form_obstacle(network, options);
  if (options.fidelity == Fidelity::closed_form) {
    if (!obstacle.empty()) {
      throw Error(
          ErrorKind::bad_input,
          fmt::format("fidelity closed_form holds only where every pair of ranks has the same private link, "
                      "but on this machine {}; use replay, flow or auto",
                      obstacle));
    }
    if (options.trace != nullptr) {
      throw Error(ErrorKind::bad_input, "fidelity closed_form has no timeline; use replay, flow or auto");
    }
  }
  if (options.fidelity != Fidelity::automatic) {
    return options.fidelity;
  }
  if (obstacle.empty() && options.trace == nullptr) {
    return Fidelity::closed_form;
  }
  return Fidelity::replay;
}

Prediction price(const Schedule& schedule, const PointKey& key, const Network& network,
                 const PredictOptions& options) {
  Prediction prediction;
  prediction.fidelity = fidelity_for(network, options);
  prediction.source = network.source;
  const SimulationOptions simulation{.eager_threshold = options.eager_threshold, .trace = options.trace};
  switch (prediction.fidelity) {
    case Fidelity::closed_form:
      prediction.seconds = closed_form(schedule, key.bytes, *network.uniform);
      break;
    default:
      prediction.seconds =
          replay(schedule, ChunkSizes(key.bytes, key.dtype, schedule.num_chunks()), network, simulation);
  }
  return prediction;
}

bool has_intervals(const Calibrated& calibrated) {
  return calibrated.latency_interval || calibrated.bandwidth_interval || calibrated.reduction_interval;
}

/// The calibration as it would be if everything were at the fast or at the slow end of its interval. Measured
/// curves move as α + β·bytes does.
Calibrated end_of_intervals(Calibrated calibrated, bool fast) {
  const Seconds latency = calibrated.latency;
  const BytesPerSecond bandwidth = calibrated.bandwidth;
  const SecondsPerByte reduction = calibrated.reduction;
  if (const auto& interval = calibrated.latency_interval) {
    calibrated.latency = {fast ? interval->low : interval->high};
  }
  if (const auto& interval = calibrated.bandwidth_interval) {
    calibrated.bandwidth = {fast ? interval->high : interval->low};
  }
  if (const auto& interval = calibrated.reduction_interval) {
    calibrated.reduction = {fast ? interval->low : interval->high};
  }
  const auto ratio = [&](Bytes bytes) {
    const double before = (latency + bytes / bandwidth).value;
    return before > 0 ? (calibrated.latency + bytes / calibrated.bandwidth).value / before : 1;
  };
  for (TransferPoint& point : calibrated.transfers) {
    point.seconds = ratio(point.bytes) * point.seconds;
  }
  for (ShiftPoint& point : calibrated.shifts) {
    point.seconds = ratio(point.bytes) * point.seconds;
  }
  for (ReductionPoint& point : calibrated.reductions) {
    point.cost.value *= reduction.value > 0 ? calibrated.reduction.value / reduction.value : 1;
  }
  return calibrated;
}

/// The price with every calibrated number at the same end of its interval.
Seconds price_at_end(const Machine& machine, bool fast, const Schedule& schedule, const PointKey& key,
                     PredictOptions options) {
  Machine moved = machine;
  moved.calibrated = end_of_intervals(*machine.calibrated, fast);
  options.trace = nullptr;
  return price(schedule, key, build_network(moved, key.ranks), options).seconds;
}

}  // namespace

std::variant<Prediction, Unpredicted> predict(const Machine& machine, const PointKey& key,
                                              const PredictOptions& options) {
  const Network network = build_network(machine, key.ranks);
  const std::variant<Model, Unpredicted> resolved = model_of(machine, key, options.backend);
  if (key.ranks == 1) {
    Prediction nothing_to_do;
    nothing_to_do.source = network.source;
    return nothing_to_do;
  }
  if (const auto* unpredicted = std::get_if<Unpredicted>(&resolved)) {
    return *unpredicted;
  }
  const Model& model = std::get<Model>(resolved);
  ScheduleRequest request = request_for(network, key, model.slices);
  if (model.algorithm->unsupported != nullptr) {
    if (std::optional<std::string> reason = model.algorithm->unsupported(request)) {
      return Unpredicted{*std::move(reason)};
    }
  }
  const Schedule schedule(*model.algorithm, std::move(request));
  Prediction prediction = price(schedule, key, network, options);
  if (prediction.source == CostSource::calibrated && machine.calibrated &&
      has_intervals(*machine.calibrated)) {
    prediction.low = std::min(prediction.seconds, price_at_end(machine, true, schedule, key, options));
    prediction.high = std::max(prediction.seconds, price_at_end(machine, false, schedule, key, options));
  }
  return prediction;
}

}  // namespace ringside
