#include "analysis/plan/planner.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analysis/plan/compute_time.hpp"
#include "common/error.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {
namespace {

/// All GPUs wait for the slowest in every step. From the 31 rows of configs/scaling/published.csv that are marked `spread`
/// (NVIDIA's and ABCI's machines, where communication is a few per cent): typically 2 % explain them, and 13 % the worst one,
/// whose input pipeline cannot keep up. The other rows did not take part.
constexpr double kSpread = 0.02;
constexpr double kWidestSpread = 0.13;
/// An all_reduce takes multiprocessors and memory bandwidth of the kernels beside it. By the published runs of accuracy_plans.md
/// computing on GPUs takes longer by about what runs beside it, so that nothing is gained by overlap, and over PCIe by up to
/// twice that; where NICs do the work most can be hidden. Ranks on CPUs hide what the step leaves room for
/// (scripts/overlap-lab).
constexpr double kSlowdown = 1;
constexpr double kMostSlowdown = 2;

/// What the cost of a run of unknown length is stated for.
constexpr double kMillionSamples = 1e6;

/// What tells most machines of a listing apart.
std::string outline_of(const Machine& machine, int gpus) {
  const IntraLink intra = machine.intra.value_or(IntraLink{});
  return fmt::format("{}|{}|{}|{}|{}|{}", gpus, machine.gpu ? machine.gpu->model : "", machine.nodes,
                     machine.gpus_per_node.value_or(0), intra.lanes.value_or(0),
                     intra.bandwidth ? intra.bandwidth->value : 0);
}

double samples_of_run(const Workload& workload) { return workload.samples * workload.epochs; }

/// Samples of one GPU and pass.
double batch_of_pass(const Workload& workload, int gpus, int accumulate) {
  return workload.batch_per_gpu ? *workload.batch_per_gpu
                                : static_cast<double>(*workload.global_batch) / gpus / accumulate;
}

std::string gigabytes(Bytes size) { return fmt::format("{:.3g} GB", static_cast<double>(size.value) / 1e9); }

}  // namespace

Machine without_names(Machine machine) {
  machine.name.clear();
  machine.origin.clear();
  machine.price.reset();
  return machine;
}

struct Planner::Known {
  Machine machine;
  int gpus = 1;
  std::optional<GpuSheet> sheet = {};
  std::variant<ComputeTime, UnknownSpeed> computed = UnknownSpeed{};
  std::optional<OfferEstimate> estimate = {};
  std::map<std::pair<std::string, int>, AllReduceTimes> times = {};
};

/// Which end of each range a step is simulated at.
struct Planner::Ends {
  Seconds Interval<Seconds>::*compute = &Interval<Seconds>::typical;
  Seconds Interval<Seconds>::*cost = &Interval<Seconds>::typical;
  double spread = kSpread;  ///< Spread of the computing times of GPUs, standard deviation over mean.
  /// Slowdown of computing, for all_reduces beside it; nothing = the typical one of these ranks.
  std::optional<double> slowdown = {};
};

Planner::Planner(const Plan& plan) : plan_(plan), gradients_(arriving_gradients(plan.workload)) {}

Planner::~Planner() = default;

Planner::Known& Planner::known(const Offer& offer) {
  Machine machine = without_names(offer.machine);
  const std::string outline = outline_of(machine, offer.gpus);
  const auto [first, last] = by_outline_.equal_range(outline);
  const auto found =
      std::find_if(first, last, [&](const auto& one) { return one.second->machine == machine; });
  if (found != last) {
    return *found->second;
  }
  const auto sheet = machine.gpu ? find_gpu_sheet(machine.gpu->model) : std::nullopt;
  known_.push_back({.machine = std::move(machine),
                    .gpus = offer.gpus,
                    .sheet = sheet,
                    .computed = compute_time(plan_.workload, sheet)});
  by_outline_.emplace(outline, &known_.back());
  return known_.back();
}

AllReduceTimes& Planner::times(Known& machine, const std::string& algorithm, int ranks) {
  const std::pair key(algorithm, ranks);
  auto found = machine.times.find(key);
  if (found == machine.times.end()) {
    found = machine.times
                .emplace(key, AllReduceTimes(machine.machine, ranks, algorithm, plan_.workload.gradients))
                .first;
  }
  return found->second;
}

double Planner::most_slowdown(const Known& machine) {
  // On CPUs the worst is that nothing is hidden: frameworks differ in how much they hide.
  return machine.machine.gpu ? kMostSlowdown : 1;
}

TrainingStep Planner::simulate(Known& machine, const Variation& variation, const Ends& ends) {
  if (const auto* unknown = std::get_if<UnknownSpeed>(&machine.computed)) {
    throw Error(ErrorKind::bad_input, unknown->reason);
  }
  const Workload& workload = plan_.workload;
  const SynchronisationSettings settings = variation.synchronisation.value_or(plan_.synchronisation);
  const int gpus = variation.gpus.value_or(machine.gpus);
  AllReduceTimes& times_here = times(machine, variation.algorithm.value_or(plan_.algorithm), gpus);
  const auto full_time = [&](Bytes bytes) {
    return ends.cost == &Interval<Seconds>::typical ? times_here.typical(bytes)
                                                    : times_here.range(bytes).*ends.cost;
  };
  const auto time_of = [&](Bytes bytes) {
    const Seconds all = full_time(bytes);
    if (variation.bandwidth_factor == 1) {
      return all;
    }
    // What a faster link does not change: what almost nothing takes.
    const Seconds latency =
        std::min(all, full_time({static_cast<std::int64_t>(size_of(workload.gradients))}));
    return latency + (1 / variation.bandwidth_factor) * (all - latency);
  };
  const double batch = batch_of_pass(workload, gpus, settings.accumulate);
  const int on_node = std::min(gpus, machine.machine.gpus_per_node.value_or(gpus));
  const Seconds fed{workload.input_per_node ? batch * on_node / *workload.input_per_node : 0};
  const Seconds pass =
      std::max(fed, batch * (std::get<ComputeTime>(machine.computed).per_sample.*ends.compute));
  double& largest = largest_of_[gpus];
  largest = largest > 0 ? largest : expected_largest(gpus);
  const double forward_share = 1 / (1 + workload.backward_over_forward);
  return simulate_step({.gradients = gradients_,
                        .buckets = make_buckets(gradients_, settings),
                        .forward = forward_share * pass,
                        .backward = (1 - forward_share) * pass,
                        .accumulate = settings.accumulate,
                        .overlap = settings.style == Synchronisation::ddp,
                        .slowdown = ends.slowdown.value_or(machine.machine.gpu ? kSlowdown : 0),
                        .waiting = (ends.spread * largest * settings.accumulate) * pass},
                       time_of);
}

/// How fast GPUs compute and what communication costs are known from different sources: as logarithms, their errors add up as squares.
Interval<Seconds> Planner::total_of(Known& machine, Seconds typical) {
  const auto error = [&](const Ends& ends) {
    return std::log(simulate(machine, {}, ends).total.value / typical.value);
  };
  constexpr auto kLow = &Interval<Seconds>::low;
  constexpr auto kHigh = &Interval<Seconds>::high;
  const double fast = std::hypot(error({.compute = kLow}), error({.cost = kLow, .spread = 0, .slowdown = 0}));
  const double slow =
      std::hypot(error({.compute = kHigh}),
                 error({.cost = kHigh, .spread = kWidestSpread, .slowdown = most_slowdown(machine)}));
  return {.low = std::exp(-fast) * typical, .typical = typical, .high = std::exp(slow) * typical};
}

StepEstimate Planner::step(Known& machine) {
  constexpr auto kLow = &Interval<Seconds>::low;
  constexpr auto kHigh = &Interval<Seconds>::high;
  TrainingStep typical = simulate(machine, {}, {});
  const double most = most_slowdown(machine);
  const TrainingStep fast =
      simulate(machine, {}, {.compute = kLow, .cost = kLow, .spread = 0, .slowdown = 0});
  const TrainingStep slow =
      simulate(machine, {}, {.compute = kHigh, .cost = kHigh, .spread = kWidestSpread, .slowdown = most});
  // Most is exposed where computing is fast and communicating slow.
  const TrainingStep best =
      simulate(machine, {}, {.compute = kHigh, .cost = kLow, .spread = 0, .slowdown = 0});
  const TrainingStep worst =
      simulate(machine, {}, {.compute = kLow, .cost = kHigh, .spread = kWidestSpread, .slowdown = most});

  const auto exposed = [](const TrainingStep& one) { return one.exposed.value / one.total.value; };
  const auto computing = [](const TrainingStep& one) { return one.compute.value / one.total.value; };
  const auto speed = [&](const TrainingStep& one) {
    return samples_per_second(one, machine.gpus, plan_.synchronisation);
  };
  const AllReduceTimes& times_here = times(machine, plan_.algorithm, machine.gpus);
  StepEstimate estimate;
  estimate.gpus = machine.gpus;
  estimate.batch = speed(typical) * typical.total.value;
  estimate.compute = {fast.compute, typical.compute, slow.compute};
  estimate.communication = {fast.communication, typical.communication, slow.communication};
  estimate.exposed = {best.exposed, typical.exposed, worst.exposed};
  estimate.waiting = {fast.waiting, typical.waiting, slow.waiting};
  estimate.total = total_of(machine, typical.total);
  estimate.exposed_share = {exposed(best), exposed(typical), exposed(worst)};
  estimate.efficiency = {computing(worst), computing(typical), computing(best)};
  const double samples = estimate.batch;
  estimate.samples_per_second = {samples / estimate.total.high.value, speed(typical),
                                 samples / estimate.total.low.value};
  estimate.timeline = std::move(typical);
  estimate.algorithm = times_here.algorithm();
  estimate.limit = times_here.limit();
  estimate.nics = times_here.nics();
  return estimate;
}

OfferEstimate Planner::estimate(const Offer& offer) {
  if (!offer.problem.empty()) {
    return {.problem = offer.problem};
  }
  Known& machine = known(offer);
  if (!machine.estimate) {
    OfferEstimate& estimate = machine.estimate.emplace();
    const double batch = batch_of_pass(plan_.workload, offer.gpus, plan_.synchronisation.accumulate);
    estimate.memory = memory_need(plan_, static_cast<int>(std::ceil(batch)));
    estimate.gpu_memory = machine.sheet ? std::optional(machine.sheet->memory) : std::nullopt;
    if (plan_.workload.tensors.empty()) {
      estimate.assumptions.emplace_back(
          "The tensors are not known: gradients are taken to arrive evenly, in pieces of 1 MiB.");
    }
    if (!estimate.memory.activations_known) {
      estimate.assumptions.emplace_back("Memory of activations is not known and counts as none.");
    }
    if (batch < 1) {
      estimate.problem = fmt::format("{} GPUs × {} passes are more than the {} samples of a step", offer.gpus,
                                     plan_.synchronisation.accumulate, *plan_.workload.global_batch);
    } else if (estimate.gpu_memory && estimate.memory.total() > *estimate.gpu_memory) {
      const auto fitting = largest_batch(plan_, *estimate.gpu_memory);
      estimate.problem =
          fmt::format("does not fit: plain data parallelism needs {} on each GPU, which has {}; {}",
                      gigabytes(estimate.memory.total()), gigabytes(*estimate.gpu_memory),
                      fitting ? fmt::format("a batch of {} per GPU would fit", *fitting)
                              : "shard weights and optimizer states instead (FSDP, ZeRO: --search)");
    } else {
      try {
        estimate.step = step(machine);
        const ComputeTime& computed = std::get<ComputeTime>(machine.computed);
        estimate.assumptions.push_back(computed.basis);
        estimate.extrapolated = computed.extrapolated;
        if (machine.machine.gpu && offer.gpus > 1 && plan_.synchronisation.style == Synchronisation::ddp) {
          estimate.assumptions.emplace_back(
              "All_reduces slow the kernels beside them down by as much as overlap saves, as in most "
              "published runs; the interval reaches from hidden as far as possible to twice that.");
        }
        if (estimate.step->algorithm != plan_.algorithm) {
          estimate.assumptions.push_back(
              fmt::format("What {} does here is not modelled; a {} is predicted instead.", plan_.algorithm,
                          estimate.step->algorithm));
        }
      } catch (const Error& error) {
        estimate.problem = error.what();
      }
    }
  }

  OfferEstimate result = *machine.estimate;
  if (result.step) {
    const double samples = samples_of_run(plan_.workload);
    const double steps = (samples > 0 ? samples : kMillionSamples) / result.step->batch;
    const Interval<Seconds> run = with_interruptions(plan_, offer, steps * result.step->total);
    if (samples > 0) {
      result.run = run;
    }
    result.cost = cost_of(offer, run, samples > 0);
    if (offer.interruptible) {
      result.assumptions.push_back(interruption_sentence(plan_));
    }
  }
  return result;
}

std::optional<TrainingStep> Planner::vary(const Offer& offer, const Variation& variation) {
  try {
    const Ends ends{.slowdown = variation.hides_all ? std::optional(0.0) : std::nullopt};
    return simulate(known(offer), variation, ends);
  } catch (const NotPredicted&) {
    return std::nullopt;
  }
}

std::optional<Interval<Seconds>> Planner::total_if_known(const Offer& offer, Part part) {
  try {
    Known& machine = known(offer);
    const auto at = [&](Seconds Interval<Seconds>::*end, double spread, double slowdown) {
      Ends ends{.compute = end, .cost = end, .spread = spread, .slowdown = slowdown};
      (part == Part::computing ? ends.compute : ends.cost) = &Interval<Seconds>::typical;
      return simulate(machine, {}, ends).total;
    };
    return Interval<Seconds>{.low = at(&Interval<Seconds>::low, 0, 0),
                             .typical = simulate(machine, {}, {}).total,
                             .high = at(&Interval<Seconds>::high, kWidestSpread, most_slowdown(machine))};
  } catch (const NotPredicted&) {
    return std::nullopt;
  }
}

double Planner::samples_per_second(const TrainingStep& step, int gpus,
                                   const SynchronisationSettings& settings) const {
  return batch_of_pass(plan_.workload, gpus, settings.accumulate) * gpus * settings.accumulate /
         step.total.value;
}

std::optional<Seconds> Planner::all_reduce(const Offer& offer, const std::string& algorithm, int ranks,
                                           Bytes bytes) {
  try {
    return times(known(offer), algorithm, ranks).typical(bytes);
  } catch (const NotPredicted&) {
    return std::nullopt;
  }
}

std::optional<NicUse> Planner::nics(const Offer& offer, const std::string& algorithm, int ranks) {
  return times(known(offer), algorithm, ranks).nics();
}

std::optional<BytesPerSecond> link_bandwidth(const Machine& machine) {
  if (machine.calibrated) {
    return machine.calibrated->bandwidth;
  }
  if (machine.nodes > 1 && machine.inter) {
    const InterLink& inter = *machine.inter;
    if (inter.kind == InterKind::custom) {
      return inter.bandwidth;
    }
    return inter.rate ? std::optional(BytesPerSecond{inter.nics *
                                                     network_link(inter.kind, *inter.rate).bandwidth.typical})
                      : std::nullopt;
  }
  if (!machine.intra) {
    return std::nullopt;
  }
  const IntraLink& intra = *machine.intra;
  if (intra.bandwidth) {
    return intra.bandwidth;
  }
  const auto sheet = machine.gpu ? find_gpu_sheet(machine.gpu->model) : std::nullopt;
  const auto stated_or = [](const std::optional<int>& stated, std::optional<int> known) {
    return stated ? stated : known;
  };
  const auto rate = [](const LinkSheet& kind, int links) {
    return BytesPerSecond{links * kind.bandwidth.typical};
  };
  switch (intra.kind) {
    case IntraKind::custom:
      return std::nullopt;
    case IntraKind::pcie: {
      const auto generation =
          stated_or(intra.generation, sheet ? std::optional(sheet->pcie_generation) : std::nullopt);
      return generation ? std::optional(rate(pcie_slot(*generation, intra.lanes.value_or(16), true), 1))
                        : std::nullopt;
    }
    case IntraKind::nvlink: {
      const auto generation = stated_or(intra.generation, sheet ? sheet->nvlink_generation : std::nullopt);
      const auto links = stated_or(intra.links_per_gpu, sheet ? sheet->links : std::nullopt);
      return generation && links ? std::optional(rate(nvlink(*generation), *links)) : std::nullopt;
    }
    case IntraKind::xgmi: {
      const auto generation = stated_or(intra.generation, sheet ? sheet->xgmi_generation : std::nullopt);
      const auto links = stated_or(intra.links_per_gpu, sheet ? sheet->links : std::nullopt);
      return generation && links ? std::optional(rate(xgmi(*generation), *links)) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::string link_name(const Machine& machine) {
  if (machine.calibrated) {
    return "calibrated link";
  }
  if (machine.nodes > 1 && machine.inter) {
    return fmt::format("{} of a node", name(machine.inter->kind));
  }
  if (!machine.intra) {
    return "link";
  }
  const IntraLink& intra = *machine.intra;
  const auto sheet = machine.gpu ? find_gpu_sheet(machine.gpu->model) : std::nullopt;
  switch (intra.kind) {
    case IntraKind::custom:
      return intra.shared ? "shared medium" : "link";
    case IntraKind::pcie:
      return fmt::format("PCIe {}.0 x{}", intra.generation.value_or(sheet ? sheet->pcie_generation : 0),
                         intra.lanes.value_or(16));
    case IntraKind::nvlink:
      return fmt::format("NVLink {}",
                         intra.generation.value_or(sheet ? sheet->nvlink_generation.value_or(0) : 0));
    case IntraKind::xgmi:
      return "xGMI";
  }
  return "link";
}

}  // namespace ringside
