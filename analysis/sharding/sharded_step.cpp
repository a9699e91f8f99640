#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "analysis/plan/compute_time.hpp"
#include "analysis/plan/planner.hpp"
#include "analysis/sharding/sharded_memory.hpp"
#include "analysis/sharding/sharded_traffic.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {
namespace {

/// Seconds of one end of what collectives cost.
struct StepParts {
  double compute = 0;
  double communication = 0;
  double exposed = 0;
  double bubble = 0;
  double waiting = 0;

  double total() const { return compute + exposed + bubble + waiting; }
};

/// What is left of `traffic` beside computing of `room`: what does not fit, and what frameworks do not hide.
double left_beside(double traffic, double room, double exposed) {
  return traffic - (1 - exposed) * std::min(traffic, room);
}

struct PartsRequest {
  const Workload& workload;
  const PlannedStep& step;
  const GpuSheet& gpu;
  const LanguageSpeed& speed;
  const PlanningParameters& parameters;
  double slowest = 0;  ///< expected_largest() of its GPUs.
};

/// `end`: which end of the costs. `exposure`: times the parts of traffic that are typically not hidden.
StepParts parts_of(const PartsRequest& request, GroupTimes& times, TimeEnd end, double exposure) {
  using enum PlanningParameter;
  const Layout& layout = *request.step.layout;
  const PlanningParameters& known = request.parameters;
  const Work work = work_of(request.workload, request.step);
  const double pass = seconds_of(work, request.gpu, request.workload.compute.precision, request.speed);
  const double update =  // The host's is part of the traffic.
      layout.offload != Offload::none
          ? 0
          : update_bytes(*request.workload.transformer, request.step) / request.gpu.memory_bandwidth.value;
  const Traffic traffic = traffic_of(request.workload, request.step, times, end);
  const auto share = [&](PlanningParameter which) { return std::min(1.0, exposure * known[which]); };
  const int passes = request.step.micro_batches;
  const double of_parts = share(exposed_tensor) * traffic.of_parts;
  const double beside = share(layout.style == ShardingStyle::ddp ? exposed_ddp : exposed_sharded);
  StepParts parts;
  parts.compute = passes * pass + update;
  parts.communication = traffic.between + traffic.of_parts + traffic.beside_passes + traffic.beside_backward;
  parts.exposed = traffic.between + of_parts + left_beside(traffic.beside_passes, passes * pass, beside) +
                  left_beside(traffic.beside_backward, work.last * pass, beside);
  // (p − 1)/v passes of a stage are lost in filling and draining (Narayanan et al. 2021, section 2.2).
  parts.bubble = static_cast<double>(layout.pipeline - 1) / layout.interleave *
                 (pass + (layout.tensor > 1 ? of_parts / passes : 0));
  parts.waiting = known[spread] * request.slowest * parts.compute;
  return parts;
}

int data_on_node(const Layout& layout, const Offer& offer) {
  const int on_node = offer.machine.gpus_per_node.value_or(offer.gpus);
  const int copies = offer.gpus / layout.tensor / layout.pipeline;
  return std::clamp(on_node / layout.tensor, 1, std::max(1, copies));
}

/// Why a model cannot be cut so; empty = it can.
std::string cannot_be_cut(const Transformer& model, const Layout& layout, const Offer& offer) {
  const int on_node = offer.machine.gpus_per_node.value_or(offer.gpus);
  const int parts = layout.tensor * layout.pipeline * layout.context;
  if (offer.gpus % parts != 0) {
    return fmt::format("tensor {} × pipeline {}{} does not divide {} GPUs", layout.tensor, layout.pipeline,
                       layout.context > 1 ? fmt::format(" × context {}", layout.context) : "", offer.gpus);
  }
  if (layout.tensor > on_node || on_node % layout.tensor != 0) {
    return fmt::format("tensor {} does not divide the {} GPUs of a node", layout.tensor, on_node);
  }
  if (model.heads % layout.tensor != 0) {
    return fmt::format("tensor {} does not divide {} heads", layout.tensor, model.heads);
  }
  if (layout.pipeline * layout.interleave > model.layers) {
    return fmt::format("pipeline {}{} has more stages than the {} layers", layout.pipeline,
                       layout.interleave > 1 ? fmt::format(" × interleave {}", layout.interleave) : "",
                       model.layers);
  }
  const int data = offer.gpus / layout.tensor / layout.pipeline;
  if (layout.expert > 1 && (model.experts % layout.expert != 0 || data % layout.expert != 0)) {
    return fmt::format("expert {} does not divide both the {} experts and the {} data-parallel ranks",
                       layout.expert, model.experts, data);
  }
  if (layout.local_steps > 1 && layout.style != ShardingStyle::ddp) {
    return "local steps need whole weights on every rank: style ddp";
  }
  if (layout.style == ShardingStyle::hybrid && data % data_on_node(layout, offer) != 0) {
    return "nodes have different numbers of data-parallel ranks";
  }
  return {};
}

/// Possible tensor-, pipeline- and expert-parallel parts, powers of two; uncut for unusable offers.
std::vector<Layout> cuts_of(const Transformer& model, const Offer& offer) {
  std::vector<Layout> cuts;
  for (int tensor = 1; tensor <= offer.gpus; tensor *= 2) {
    for (int pipeline = 1; tensor * pipeline <= offer.gpus; pipeline *= 2) {
      for (int expert = 1; expert <= std::max(1, model.experts); expert *= 2) {
        const Layout cut{.tensor = tensor, .pipeline = pipeline, .expert = expert};
        if (cannot_be_cut(model, cut, offer).empty()) {
          cuts.push_back(cut);
        }
      }
    }
  }
  return cuts;
}

/// What a search compares by: cost, or seconds of a step per sample.
double merit_of(const PlannedStep& step) {
  return step.cost ? step.cost->amount.typical : 1 / step.speed.typical;
}

/// Samples of a step, all GPUs together.
double samples_of_step(const Plan& plan, int gpus) {
  const Workload& workload = plan.workload;
  return workload.global_batch
             ? *workload.global_batch
             : static_cast<double>(*workload.batch_per_gpu) * plan.synchronisation.accumulate * gpus;
}

/// Checkpoints as few layers of a stage as memory asks for, as frameworks can that count them (Megatron-LM's
/// recompute-num-layers).
void checkpoint_fewest(const Workload& workload, PlannedStep& step) {
  const double layers = layers_on_stage(*workload.transformer, *step.layout);
  for (double some = 1; some <= layers; ++some) {
    step.layout->checkpointed = some / layers;
    step.memory = sharded_memory(workload, *step.layout, step.micro_batch, step.micro_batches);
    if (step.memory.total() <= *step.gpu_memory) {
      return;
    }
  }
}

/// A step's needs and what would fit, checkpointed where open and needed; false where neither fits.
bool fits(const Workload& workload, bool open, PlannedStep& step) {
  const auto need = [&](int batch) {
    return sharded_memory(workload, *step.layout, batch, step.micro_batches);
  };
  std::vector<Checkpointing> kinds = {Checkpointing::none, Checkpointing::full};
  if (!open) {
    kinds = {*step.layout->checkpointing};
  } else if (step.layout->adapters == Adapters::qlora) {
    kinds = {Checkpointing::
                 full};  // Its frameworks do (Dettmers et al. 2023; peft's prepare_model_for_kbit_training).
  }
  for (const Checkpointing checkpointing : kinds) {
    step.layout->checkpointing = checkpointing;
    step.memory = need(step.micro_batch);
    step.largest_batch = largest_batch(*step.gpu_memory, need(0), need(1));
    if (step.memory.total() <= *step.gpu_memory) {
      if (kinds.size() > 1 && checkpointing == Checkpointing::full) {
        checkpoint_fewest(workload, step);
      }
      return true;
    }
  }
  return false;
}

/// Where the speed of computing comes from, and who has more samples than others.
std::string basis_of(const GpuSheet& gpu, const Workload& workload, const LanguageSpeed& speed,
                     double of_replica, const PlannedStep& step) {
  const double operations = step.micro_batches * work_of(workload, step).operations();
  const double rate = flop_rate(gpu, workload.compute.precision);
  const auto share = [&](double time) { return percent(operations / rate / time); };
  const double compute = step.compute.typical.value;
  std::string basis =
      fmt::format("One {} computes at {}{} of its {:.4g} TFLOP/s{}.", gpu.model,
                  speed.time.low < speed.time.high ? share(speed.time.high * compute) + " to " : "",
                  share(speed.time.low * compute), rate / 1e12,
                  speed.extrapolated ? ", but no published training of a language model ran on it" : "");
  if (static_cast<double>(step.micro_batch) * step.micro_batches > of_replica) {
    basis +=
        fmt::format(" {:g} samples of a step are not {} × {} each for {}: the one with most sets the pace.",
                    step.batch, step.micro_batch, step.micro_batches, count_of(step.layout->data, "replica"));
  }
  return basis;
}

}  // namespace

PlannedStep Planner::estimate(const Offer& offer, const Layout& layout, std::optional<int> micro_batch) {
  const Workload& workload = plan_.workload;
  PlannedStep step{.layout = layout};
  step.problem = offer.problem.empty() ? cannot_be_cut(*workload.transformer, layout, offer) : offer.problem;
  const auto sheet = find_gpu_sheet(offer.machine);
  if (step.problem.empty() && !sheet) {
    step.problem = "the catalogue does not know its GPU";
  }
  if (!step.problem.empty()) {
    return step;
  }
  step.layout->data = offer.gpus / layout.tensor / layout.pipeline / layout.context;
  step.layout->data_on_node = data_on_node(layout, offer);
  step.batch = samples_of_step(plan_, offer.gpus);
  const double of_replica = step.batch / step.layout->data;
  if (of_replica < 1) {
    step.problem = fmt::format("its {} replicas have no sample each of the {:g} of a step", step.layout->data,
                               step.batch);
    return step;
  }
  const int accumulate = plan_.synchronisation.accumulate;
  step.micro_batch = micro_batch.value_or(
      workload.batch_per_gpu.value_or(std::max(1, static_cast<int>(std::lround(of_replica / accumulate)))));
  step.micro_batches = std::max(1, static_cast<int>(std::ceil(of_replica / step.micro_batch)));
  step.gpu_memory = usable_memory(*sheet);
  if (!fits(workload, !layout.checkpointing, step)) {
    step.problem = fmt::format(
        "does not fit: {} on each GPU, which has {}{}", in_gb(step.memory.total()), in_gb(*step.gpu_memory),
        step.largest_batch ? fmt::format("; a micro-batch of {} would fit", *step.largest_batch) : "");
    return step;
  }
  if (!(flop_rate(*sheet, workload.compute.precision) > 0)) {
    step.problem =
        fmt::format("the catalogue has no {} rate of a {}", name(workload.compute.precision), sheet->model);
    return step;
  }
  try {
    add_times(offer, *sheet, of_replica, step);
    add_run(plan_, offer, step);
  } catch (const Error& error) {
    step.problem = error.what();
  }
  return step;
}

void Planner::add_times(const Offer& offer, const GpuSheet& gpu, double of_replica, PlannedStep& step) {
  const Workload& workload = plan_.workload;
  const LanguageSpeed speed = speed_of(plan_, gpu, step, parameters_);
  step.extrapolated = speed.extrapolated;
  const PartsRequest request{.workload = workload,
                             .step = step,
                             .gpu = gpu,
                             .speed = speed,
                             .parameters = parameters_,
                             .slowest = slowest_of(offer.gpus)};
  const auto at = [&](TimeEnd end, double exposure) {
    return parts_of(request, times(offer), end, exposure);
  };
  constexpr double kLeast = 0.5;
  constexpr double kMost = 2;
  const StepParts fast = at(&Interval<Seconds>::low, kLeast);
  const StepParts typical = at(&Interval<Seconds>::typical, 1);
  const StepParts slow = at(&Interval<Seconds>::high, kMost);
  const auto range = [&](double StepParts::*member) {
    return Interval<Seconds>{.low = {fast.*member}, .typical = {typical.*member}, .high = {slow.*member}};
  };
  step.compute = speed.time * Seconds{typical.compute};
  step.communication = range(&StepParts::communication);
  step.exposed = range(&StepParts::exposed);
  step.bubble = speed.time * Seconds{typical.bubble};
  step.waiting = speed.time * Seconds{typical.waiting};
  // How fast GPUs compute and what communication costs are known from different sources: as in total_of().
  const auto end_at = [&](double time, const StepParts& parts) {
    return Seconds{typical.total() *
                   std::exp((time < 1 ? -1 : 1) *
                            std::hypot(std::log(time), std::log(parts.total() / typical.total())))};
  };
  step.total = {.low = end_at(std::min(speed.time.low, 1 - 1e-12), fast),
                .typical = {typical.total()},
                .high = end_at(speed.time.high, slow)};
  step.assumptions = {kFusedKernels, basis_of(gpu, workload, speed, of_replica, step)};
  if (step.layout->offload != Offload::none) {
    step.assumptions.push_back(host_sentence(offer.machine, step));
  }
  if (offer.interruptible) {
    step.assumptions.push_back(interruption_sentence(plan_));
  }
  if (workload.input_per_node) {
    const int on_node = std::min(offer.gpus, offer.machine.gpus_per_node.value_or(offer.gpus));
    const Seconds fed{step.batch * on_node / offer.gpus / *workload.input_per_node};
    for (Seconds Interval<Seconds>::*end :
         {&Interval<Seconds>::low, &Interval<Seconds>::typical, &Interval<Seconds>::high}) {
      step.total.*end = std::max(step.total.*end, fed);
    }
  }
  const double tokens = step.batch * static_cast<double>(workload.transformer->sequence);
  step.speed = {.low = tokens / step.total.high.value,
                .typical = tokens / step.total.typical.value,
                .high = tokens / step.total.low.value};
}

std::vector<PlannedStep> Planner::search(const Offer& offer) {
  std::vector<PlannedStep> found;
  std::optional<PlannedStep> least;
  const auto attempt = [&](Layout layout) {
    PlannedStep one = estimate(offer, layout, 1);
    if (!one.problem.empty()) {
      if (!least || one.memory.total() < least->memory.total()) {
        least = std::move(one);
      }
      return;
    }
    // The largest micro-batch that fits: fewer gathers, fuller kernels; for a pipeline also smaller ones.
    const double of_replica = one.batch / one.layout->data;
    const int most = std::max(1, static_cast<int>(std::ceil(of_replica)));
    // What fits without checkpointing was tried without it; beyond that, as many layers as memory asks for.
    const bool some = layout.recomputed() > 0;
    if (some) {
      layout.checkpointing.reset();
    }
    for (int batch = 1; batch <= std::min(most, one.largest_batch.value_or(1)); ++batch) {
      if (most % batch != 0 && !std::has_single_bit(static_cast<unsigned>(batch))) {
        continue;
      }
      PlannedStep step = estimate(offer, layout, batch);
      if (step.problem.empty() && (!some || step.layout->recomputed() > 0)) {
        found.push_back(std::move(step));
      }
    }
  };
  for (const Layout& cut : cuts_of(*plan_.workload.transformer, offer)) {
    for (const auto style : {ShardingStyle::ddp, ShardingStyle::zero1, ShardingStyle::zero2,
                             ShardingStyle::fsdp, ShardingStyle::hybrid}) {
      const bool alone = offer.gpus == cut.tensor * cut.pipeline;  // Nobody to cut anything else with.
      if ((alone && style != ShardingStyle::ddp) ||
          (style == ShardingStyle::hybrid && offer.machine.nodes == 1)) {
        continue;
      }
      for (const Checkpointing checkpointing : {Checkpointing::none, Checkpointing::full}) {
        Layout layout = cut;
        layout.style = style;
        layout.checkpointing = checkpointing;
        attempt(layout);
      }
    }
  }
  if (found.empty() && least) {
    return {*std::move(least)};
  }
  // Fuller kernels among what takes the same but for rounding.
  std::ranges::stable_sort(found, {}, [](const PlannedStep& step) {
    return std::pair(static_cast<float>(merit_of(step)), -step.micro_batch);
  });
  return found;
}

}  // namespace ringside
