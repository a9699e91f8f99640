#include "analysis/plan/planner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison/point_sentences.hpp"
#include "analysis/plan/achieved_share.hpp"
#include "analysis/plan/compute_time.hpp"
#include "common/error.hpp"
#include "common/text.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {
namespace {

/// All GPUs wait for the slowest in every step. From the 31 rows marked `spread` of
/// configs/scaling/published.csv: typically 2 % explain them, and 13 % the worst one,
/// whose input pipeline cannot keep up. The other rows did not take part.
constexpr double kSpread = 0.02;
constexpr double kWidestSpread = 0.13;
/// An all_reduce takes multiprocessors and memory bandwidth of the kernels beside it. By the published runs
/// of accuracy_plans.md computing on GPUs takes longer by about what runs beside it, so that nothing is
/// gained by overlap, and over PCIe by up to twice that; where NICs do the work most can be hidden. Ranks on
/// CPUs hide what the step leaves room for (scripts/overlap-lab).
constexpr double kSlowdown = 1;
constexpr double kMostSlowdown = 2;

constexpr auto kLow = &Interval<Seconds>::low;
constexpr auto kHigh = &Interval<Seconds>::high;

/// What tells most machines of a listing apart.
std::string outline_of(const Machine& machine, int gpus) {
  const IntraLink intra = machine.intra.value_or(IntraLink{});
  return fmt::format("{}|{}|{}|{}|{}|{}", gpus, machine.gpu ? machine.gpu->model : "", machine.nodes,
                     machine.gpus_per_node.value_or(0), intra.lanes.value_or(0),
                     intra.bandwidth ? intra.bandwidth->value : 0);
}

/// Samples of one GPU and pass.
double batch_of_pass(const Workload& workload, int gpus, int accumulate) {
  return workload.batch_per_gpu ? *workload.batch_per_gpu
                                : static_cast<double>(*workload.global_batch) / gpus / accumulate;
}

/// The machine without what does not change its speed, so that alike offers are predicted once.
Machine without_names(Machine machine) {
  machine.name.clear();
  machine.origin.clear();
  machine.price.reset();
  return machine;
}

/// What it gives; none where nothing is predicted.
template <typename Predict>
auto where_possible(const Predict& predict) -> std::optional<decltype(predict())> {
  try {
    return predict();
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// What stood for the plan's algorithm, and what shares its traffic.
void set_prediction(const GroupTimes::Predicted& found, PlannedStep& step) {
  const std::vector<Limit>& limits = found.prediction.limits;
  step.algorithm = found.algorithm;
  step.limit = limits.empty() ? std::string{} : limit_sentence(limits.front());
  step.nics = found.prediction.nics;
}

}  // namespace

struct Planner::Known {
  Machine machine;
  int gpus = 1;
  std::optional<GpuSheet> sheet = {};
  std::optional<ComputeTime> computed = {};  ///< Once it was asked for.
  std::optional<PlannedStep> step =
      {};  ///< In buckets, without the run, which the price and the kind of an offer change.
  GroupTimes times = GroupTimes(machine);
};

/// Which end of each range a step is simulated at.
struct Planner::Ends {
  Seconds Interval<Seconds>::*compute = &Interval<Seconds>::typical;
  Seconds Interval<Seconds>::*cost = &Interval<Seconds>::typical;
  /// Spread of the computing times of GPUs, standard deviation over mean; nothing = the typical one.
  std::optional<double> spread = {};
  /// Slowdown of computing, for all_reduces beside it; nothing = the typical one of these ranks.
  std::optional<double> slowdown = {};
};

Planner::Planner(const Plan& plan, const PlanningParameters& parameters)
    : plan_(plan), parameters_(parameters) {
  if (computes(plan.workload) && !plan.shards()) {
    gradients_ = arriving_gradients(plan.workload);
  }
}

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
  const auto sheet = find_gpu_sheet(machine);
  known_.push_back({.machine = std::move(machine), .gpus = offer.gpus, .sheet = sheet});
  by_outline_.emplace(outline, &known_.back());
  return known_.back();
}

PointKey Planner::all_reduce_of(const std::string& algorithm, int ranks, Bytes bytes) const {
  return {.algorithm = algorithm, .ranks = ranks, .bytes = bytes, .dtype = plan_.workload.gradients};
}

GroupTimes& Planner::times(const Offer& offer) { return known(offer).times; }

double Planner::slowest_of(int gpus) {
  const auto [known, is_new] = slowest_of_.try_emplace(gpus);
  return is_new ? known->second = expected_largest(gpus) : known->second;
}

double Planner::most_slowdown(const Known& machine) const {
  // On CPUs the worst is that nothing is hidden: frameworks differ in how much they hide.
  return machine.machine.gpu && !plan_.workload.transformer ? kMostSlowdown : 1;
}

Interval<double> Planner::spread() const {
  // Published runs of language models say it better than those of convolutional networks.
  constexpr double kWidest = 3;
  const double language = parameters_[PlanningParameter::spread];
  return plan_.workload.transformer
             ? Interval<double>{.low = 0, .typical = language, .high = kWidest * language}
             : Interval<double>{.low = 0, .typical = kSpread, .high = kWidestSpread};
}

namespace {

/// Gradients are copied into their bucket and back: each is read and written twice (PyTorch's reducer.cpp,
/// gradient_as_bucket_view = False; Sergeev and Del Balso 2018, arXiv 1802.05799, section 4).
Seconds copying(const std::optional<GpuSheet>& gpu, int gpus, Synchronisation style, Bytes gradients) {
  const bool copied = gpu && gpus > 1 && style != Synchronisation::per_tensor;
  return copied ? 4 * (gradients / gpu->memory_bandwidth) : Seconds{};
}

}  // namespace

TrainingStep Planner::simulate(Known& machine, const Variation& variation, const Ends& ends) {
  const Workload& workload = plan_.workload;
  if (!machine.computed) {
    machine.computed = compute_time(workload, machine.sheet);
  }
  const ComputeTime& computed = *machine.computed;
  const SynchronisationSettings settings = variation.synchronisation.value_or(plan_.synchronisation);
  const int gpus = variation.gpus.value_or(machine.gpus);
  const std::string& algorithm = variation.algorithm ? *variation.algorithm : plan_.algorithm;
  const bool typical = ends.cost == &Interval<Seconds>::typical;
  const auto full_time = [&](Bytes bytes) {
    const auto& found = machine.times.predicted(all_reduce_of(algorithm, gpus, bytes), !typical);
    return found.prediction.interval().*ends.cost;
  };
  const auto time_of = [&](Bytes bytes) {
    const Seconds all = full_time(bytes);
    const Seconds copies = copying(machine.sheet, gpus, settings.style, bytes);
    if (variation.bandwidth_factor == 1) {
      return copies + all;
    }
    // What a faster link does not change: what almost nothing takes.
    const Seconds latency =
        std::min(all, full_time({static_cast<std::int64_t>(size_of(workload.gradients))}));
    return copies + latency + (1 / variation.bandwidth_factor) * (all - latency);
  };
  const double batch = batch_of_pass(workload, gpus, settings.accumulate);
  const int on_node = std::min(gpus, machine.machine.gpus_per_node.value_or(gpus));
  const Seconds fed{workload.input_per_node ? batch * on_node / *workload.input_per_node : 0};
  const Seconds pass =
      std::max({fed, computed.launches.*ends.compute, batch * (computed.per_sample.*ends.compute)});
  const double slowdown = workload.transformer ? parameters_[PlanningParameter::exposed_ddp] : kSlowdown;
  const double forward_share = 1 / (1 + workload.backward_over_forward);
  return simulate_step(
      {.gradients = gradients_,
       .buckets = make_buckets(gradients_, settings),
       .forward = forward_share * pass,
       .backward = (1 - forward_share) * pass,
       .accumulate = settings.accumulate,
       .overlap = settings.style == Synchronisation::ddp,
       .slowdown = ends.slowdown.value_or(machine.machine.gpu ? slowdown : 0),
       .waiting = (ends.spread.value_or(spread().typical) * slowest_of(gpus) * settings.accumulate) * pass},
      time_of);
}

/// Speed and communication come from different sources: the squares of their logarithmic errors add up.
Interval<Seconds> Planner::total_of(Known& machine, Seconds typical) {
  const auto error = [&](const Ends& ends) {
    return std::log(simulate(machine, {}, ends).total.value / typical.value);
  };
  const double fast = std::hypot(error({.compute = kLow}), error({.cost = kLow, .spread = 0, .slowdown = 0}));
  const double slow =
      std::hypot(error({.compute = kHigh}),
                 error({.cost = kHigh, .spread = spread().high, .slowdown = most_slowdown(machine)}));
  return {.low = std::exp(-fast) * typical, .typical = typical, .high = std::exp(slow) * typical};
}

void Planner::add_times(Known& machine, PlannedStep& step) {
  TrainingStep typical = simulate(machine, {}, {});
  const double most = most_slowdown(machine);
  const TrainingStep fast =
      simulate(machine, {}, {.compute = kLow, .cost = kLow, .spread = 0, .slowdown = 0});
  const TrainingStep slow =
      simulate(machine, {}, {.compute = kHigh, .cost = kHigh, .spread = spread().high, .slowdown = most});
  // Most is exposed where computing is fast and communicating slow.
  const TrainingStep best =
      simulate(machine, {}, {.compute = kHigh, .cost = kLow, .spread = 0, .slowdown = 0});
  const TrainingStep worst =
      simulate(machine, {}, {.compute = kLow, .cost = kHigh, .spread = spread().high, .slowdown = most});

  const auto exposed = [](const TrainingStep& one) { return one.exposed.value / one.total.value; };
  const auto computing = [](const TrainingStep& one) { return one.compute.value / one.total.value; };
  const double speed = samples_per_second(typical, machine.gpus);
  const auto of_most =
      std::ranges::max_element(typical.buckets, {}, [](const BucketTimes& one) { return one.bucket.bytes; });
  set_prediction(
      machine.times.predicted(all_reduce_of(plan_.algorithm, machine.gpus, of_most->bucket.bytes), true),
      step);
  step.batch = speed * typical.total.value;
  step.compute = {fast.compute, typical.compute, slow.compute};
  const Seconds copies =
      copying(machine.sheet, machine.gpus, plan_.synchronisation.style, gradient_bytes(plan_.workload));
  step.communication = {fast.communication - copies, typical.communication - copies,
                        slow.communication - copies};
  step.exposed = {best.exposed, typical.exposed, worst.exposed};
  step.waiting = {fast.waiting, typical.waiting, slow.waiting};
  step.total = total_of(machine, typical.total);
  // Waiting for others makes a step longer, too: the worst step may expose the smaller share.
  const auto [least, largest] = std::minmax({exposed(best), exposed(typical), exposed(worst)});
  step.exposed_share = {least, exposed(typical), largest};
  step.efficiency = {computing(worst), computing(typical), computing(best)};
  step.speed = {step.batch / step.total.high.value, speed, step.batch / step.total.low.value};
  step.timeline = std::move(typical);
}

PlannedStep Planner::without_run(Known& machine) {
  const int accumulate = plan_.synchronisation.accumulate;
  const double batch = batch_of_pass(plan_.workload, machine.gpus, accumulate);
  PlannedStep step{.memory = memory_need(plan_, static_cast<int>(std::ceil(batch)))};
  step.gpu_memory = machine.sheet ? std::optional(usable_memory(*machine.sheet)) : std::nullopt;
  if (plan_.workload.tensors.empty()) {
    step.assumptions.emplace_back("Tensor sizes are unknown: gradients arrive evenly, in pieces of 1 MiB.");
  }
  if (!activations_of_sample(plan_.workload)) {
    step.assumptions.emplace_back("Activation memory is unknown and counts as zero.");
  }
  if (batch < 1) {
    step.problem = fmt::format("{} GPUs × {} passes are more than the {} samples of a step", machine.gpus,
                               accumulate, *plan_.workload.global_batch);
    return step;
  }
  if (step.gpu_memory && step.memory.total() > *step.gpu_memory) {
    const auto fitting = largest_batch(*step.gpu_memory, memory_need(plan_, 0), memory_need(plan_, 1));
    step.problem = fmt::format("does not fit: plain data parallelism needs {} on each GPU, which has {}; {}",
                               in_gb(step.memory.total()), in_gb(*step.gpu_memory),
                               fitting ? fmt::format("a batch of {} per GPU would fit", *fitting)
                                       : "shard weights and optimizer states instead (FSDP, ZeRO: --search)");
    return step;
  }
  try {
    add_times(machine, step);
  } catch (const Error& error) {
    step.problem = error.what();
    return step;
  }
  const ComputeTime& computed = *machine.computed;
  if (plan_.workload.transformer && !plan_.workload.compute.family) {
    step.assumptions.emplace_back(kFusedKernels);
  }
  step.assumptions.push_back(computed.basis);
  if (computed.launches.typical > batch * computed.per_sample.typical) {
    step.assumptions.push_back(fmt::format(
        "A pass takes {}, as launching the kernels of its {} tensors does; a larger batch takes no longer.",
        format(computed.launches.typical), plan_.workload.tensors.size()));
  }
  step.extrapolated = computed.extrapolated;
  if (machine.machine.gpu && machine.gpus > 1 && plan_.synchronisation.style == Synchronisation::ddp) {
    step.assumptions.emplace_back(
        "Overlapped all_reduces slow kernels by as much as overlap saves, as in most published runs; the "
        "interval covers zero to twice that.");
  }
  if (step.algorithm != plan_.algorithm) {
    step.assumptions.push_back(
        fmt::format("{} is not modelled here; {} is predicted instead.", plan_.algorithm, step.algorithm));
  }
  return step;
}

PlannedStep Planner::estimate(const Offer& offer) {
  if (!offer.problem.empty()) {
    return {.problem = offer.problem};
  }
  Known& machine = known(offer);
  if (!machine.step) {
    machine.step = without_run(machine);
  }
  PlannedStep step = *machine.step;
  if (step.usable()) {
    add_run(plan_, offer, step);
    if (offer.interruptible) {
      step.assumptions.push_back(interruption_sentence(plan_));
    }
  }
  return step;
}

PlannedStep Planner::synchronise(const Offer& offer) {
  if (!offer.problem.empty() || offer.gpus < 2) {
    return {.problem = !offer.problem.empty() ? offer.problem : "one GPU has nothing to synchronise"};
  }
  const Bytes bytes = gradient_bytes(plan_.workload);
  try {
    const auto& found = times(offer).predicted(all_reduce_of(plan_.algorithm, offer.gpus, bytes), true);
    PlannedStep step{.communication = found.prediction.interval()};
    set_prediction(found, step);
    step.ring = all_reduce(offer, "ring", offer.gpus, bytes);
    step.naive = all_reduce(offer, "naive", offer.gpus, bytes);
    return step;
  } catch (const Error& error) {
    return {.problem = error.what()};
  }
}

std::optional<TrainingStep> Planner::vary(const Offer& offer, const Variation& variation) {
  const Ends ends{.slowdown = variation.hides_all ? std::optional(0.0) : std::nullopt};
  return where_possible([&] { return simulate(known(offer), variation, ends); });
}

std::optional<Interval<Seconds>> Planner::total_if_known(const Offer& offer, Part part) {
  Known& machine = known(offer);
  const auto at = [&](Seconds Interval<Seconds>::*end, double spread, double slowdown) {
    Ends ends{.compute = end, .cost = end, .spread = spread, .slowdown = slowdown};
    (part == Part::computing ? ends.compute : ends.cost) = &Interval<Seconds>::typical;
    return simulate(machine, {}, ends).total;
  };
  return where_possible([&] {
    return Interval<Seconds>{.low = at(kLow, 0, 0),
                             .typical = simulate(machine, {}, {}).total,
                             .high = at(kHigh, spread().high, most_slowdown(machine))};
  });
}

double Planner::samples_per_second(const TrainingStep& step, int gpus) const {
  const int accumulate = plan_.synchronisation.accumulate;
  return batch_of_pass(plan_.workload, gpus, accumulate) * gpus * accumulate / step.total.value;
}

std::optional<Seconds> Planner::all_reduce(const Offer& offer, const std::string& algorithm, int ranks,
                                           Bytes bytes) {
  return where_possible([&] {
    return times(offer).predicted(all_reduce_of(algorithm, ranks, bytes), false).prediction.seconds;
  });
}

std::optional<NicUse> Planner::nics(const Offer& offer, const std::string& algorithm, int ranks,
                                    Bytes bytes) {
  return all_reduce(offer, algorithm, ranks, bytes)
             ? times(offer).predicted(all_reduce_of(algorithm, ranks, bytes), false).prediction.nics
             : std::nullopt;
}

}  // namespace ringside
