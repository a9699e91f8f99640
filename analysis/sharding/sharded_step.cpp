#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "analysis/plan/compute_time.hpp"
#include "analysis/plan/planner.hpp"
#include "analysis/sharding/sharded_compute.hpp"
#include "analysis/sharding/sharded_memory.hpp"
#include "analysis/sharding/sharded_traffic.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {
namespace {

/// As of step_model.hpp, and for the same reasons: collectives slow the kernels beside them down.
constexpr Interval<double> kSlowdownBeside{.low = 0, .typical = 1, .high = 2};
/// All wait for the slowest, as in planner.cpp.
constexpr Interval<double> kSpreadOfGpus{.low = 0, .typical = 0.02, .high = 0.13};
using End = double Interval<double>::*;

struct RangeEnds {
  End share;     ///< End of achieved_share(): the fast end is its high one.
  End cost;      ///< End of dequantising, spread and slowdown.
  TimeEnd time;  ///< End of what collectives cost.
};
constexpr RangeEnds kFast{&Interval<double>::high, &Interval<double>::low, &Interval<Seconds>::low};
constexpr RangeEnds kTypical{&Interval<double>::typical, &Interval<double>::typical,
                             &Interval<Seconds>::typical};
constexpr RangeEnds kSlow{&Interval<double>::low, &Interval<double>::high, &Interval<Seconds>::high};

/// Seconds of one end of every range.
struct StepParts {
  double compute = 0;
  double communication = 0;
  double exposed = 0;
  double bubble = 0;
  double total = 0;
};

/// `slowest`: expected_largest() of its GPUs.
StepParts parts_of(const Workload& workload, const PlannedStep& step, const GpuSheet& gpu,
                   const Interval<double>& share, double slowest, GroupTimes& times, const RangeEnds& ends) {
  const Transformer& model = *workload.transformer;
  const Layout& layout = *step.layout;
  const double rate = flop_rate(gpu, workload.compute.precision);
  const Work work = work_of(model, step);
  const double speed = rate * share.*ends.share;
  const double memory = gpu.memory_bandwidth.value;
  const double pass =
      (work.forward + work.backward) / speed + work.dequantised * kDequantised.*ends.cost / memory;
  const double update = update_bytes(model, step) / memory;
  const Traffic traffic = traffic_of(workload, step, times, ends.time);
  const double passes = step.micro_batches * pass;
  const double last_backward = work.backward / speed;
  const double hidden_passes = std::min(traffic.beside_passes, passes);
  const double hidden_backward = std::min(traffic.beside_backward, last_backward);
  const double slowdown = kSlowdownBeside.*ends.cost;
  StepParts parts;
  parts.compute = passes + update;
  parts.communication = traffic.between + traffic.beside_passes + traffic.beside_backward;
  parts.exposed = parts.communication + (slowdown - 1) * (hidden_passes + hidden_backward);
  // (p − 1)/v passes of a stage are lost in filling and draining (Narayanan et al. 2021, section 2.2).
  parts.bubble = static_cast<double>(layout.pipeline - 1) / layout.interleave *
                 (pass + (layout.tensor > 1 ? traffic.between / step.micro_batches : 0));
  const double waiting = kSpreadOfGpus.*ends.cost * slowest * parts.compute;
  parts.total = parts.compute + parts.exposed + parts.bubble + waiting;
  return parts;
}

int data_on_node(const Layout& layout, const Offer& offer) {
  const int on_node = offer.machine.gpus_per_node.value_or(offer.gpus);
  const int data = offer.gpus / layout.tensor / layout.pipeline;
  return std::clamp(on_node / layout.tensor, 1, std::max(1, data));
}

/// Why a model cannot be cut so; empty = it can.
std::string cannot_be_cut(const Transformer& model, const Layout& layout, const Offer& offer) {
  const int on_node = offer.machine.gpus_per_node.value_or(offer.gpus);
  const int parts = layout.tensor * layout.pipeline;
  if (offer.gpus % parts != 0) {
    return fmt::format("tensor {} × pipeline {} does not divide {} GPUs", layout.tensor, layout.pipeline,
                       offer.gpus);
  }
  if (layout.tensor > on_node || on_node % layout.tensor != 0) {
    return fmt::format("tensor {} does not divide the {} GPUs of a node", layout.tensor, on_node);
  }
  if (model.heads % layout.tensor != 0) {
    return fmt::format("tensor {} does not divide {} heads", layout.tensor, model.heads);
  }
  if (layout.interleave > 1 && model.layers % (layout.pipeline * layout.interleave) != 0) {
    return fmt::format("pipeline {} × interleave {} does not divide {} layers", layout.pipeline,
                       layout.interleave, model.layers);
  }
  if (layout.pipeline > model.layers) {
    return fmt::format("pipeline {} has more stages than the {} layers", layout.pipeline, model.layers);
  }
  const int data = offer.gpus / parts;
  if (layout.expert > 1 && (model.experts % layout.expert != 0 || data % layout.expert != 0)) {
    return fmt::format("expert {} does not divide {} experts and {} data-parallel ranks", layout.expert,
                       model.experts, data);
  }
  if (layout.local_steps > 1 && layout.style != ShardingStyle::ddp) {
    return "local steps need whole weights on every rank: style ddp";
  }
  if (layout.style == ShardingStyle::hybrid && data % data_on_node(layout, offer) != 0) {
    return "nodes have different numbers of data-parallel ranks";
  }
  return {};
}

/// Tensor-, pipeline- and expert-parallel parts in powers of two that can be; uncut where an offer cannot be used at all.
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

/// What a step needs and what would fit, with checkpointing where the layout leaves it open and memory asks for it; false where neither fits.
bool fits(const Workload& workload, bool open, PlannedStep& step) {
  const auto need = [&](int batch) {
    return sharded_memory(workload, *step.layout, batch, step.micro_batches);
  };
  for (const bool checkpointing :
       open ? std::vector{false, true} : std::vector{*step.layout->checkpointing}) {
    step.layout->checkpointing = checkpointing;
    step.memory = need(step.micro_batch);
    step.largest_batch = largest_batch(*step.gpu_memory, need(0), need(1));
    if (step.memory.total() <= *step.gpu_memory) {
      return true;
    }
  }
  return false;
}

/// Where the speed of computing comes from, and who has more samples than others.
std::string basis_of(const GpuSheet& gpu, double rate, const AchievedShare& achieved, double of_replica,
                     const PlannedStep& step) {
  std::string basis =
      fmt::format("One {} computes at {}{} of its {:.4g} TFLOP/s{}.", gpu.model,
                  achieved.share.low < achieved.share.high ? percent(achieved.share.low) + " to " : "",
                  percent(achieved.share.high), rate / 1e12,
                  achieved.extrapolated ? ", which nobody published of a language model on it" : "");
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
  const auto sheet = offer.machine.gpu ? find_gpu_sheet(offer.machine.gpu->model) : std::nullopt;
  if (step.problem.empty() && !sheet) {
    step.problem = "the catalogue does not know its GPU";
  }
  if (!step.problem.empty()) {
    return step;
  }
  step.layout->data = offer.gpus / layout.tensor / layout.pipeline;
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
  step.gpu_memory = sheet->memory;
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
  const AchievedShare achieved = share_of(plan_, gpu, step);
  step.extrapolated = achieved.extrapolated;
  step.assumptions = {basis_of(gpu, flop_rate(gpu, workload.compute.precision), achieved, of_replica, step)};
  if (offer.interruptible) {
    step.assumptions.push_back(interruption_sentence(plan_));
  }
  const double slowest = slowest_of(offer.gpus);
  const auto at = [&](const RangeEnds& ends) {
    return parts_of(workload, step, gpu, achieved.share, slowest, groups(offer), ends);
  };
  const StepParts fast = at(kFast);
  const StepParts typical = at(kTypical);
  const StepParts slow = at(kSlow);
  const auto range = [&](double StepParts::*member) {
    return Interval<Seconds>{.low = {fast.*member}, .typical = {typical.*member}, .high = {slow.*member}};
  };
  step.compute = range(&StepParts::compute);
  step.communication = range(&StepParts::communication);
  step.exposed = range(&StepParts::exposed);
  step.bubble = range(&StepParts::bubble);
  step.total = range(&StepParts::total);
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
  const auto attempt = [&](const Layout& layout) {
    PlannedStep one = estimate(offer, layout, 1);
    if (!one.problem.empty()) {
      if (!least || one.memory.total() < least->memory.total()) {
        least = std::move(one);
      }
      return;
    }
    // The largest micro-batch that fits: fewer gathers, fuller kernels; a pipeline wants many, so smaller ones are tried, too.
    const double of_replica = one.batch / one.layout->data;
    const int most = std::max(1, static_cast<int>(std::ceil(of_replica)));
    for (int batch = 1; batch <= std::min(most, one.largest_batch.value_or(1)); ++batch) {
      if (most % batch != 0 && !std::has_single_bit(static_cast<unsigned>(batch))) {
        continue;
      }
      PlannedStep step = estimate(offer, layout, batch);
      if (step.problem.empty()) {
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
      for (const bool checkpointing : {false, true}) {
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
  std::stable_sort(found.begin(), found.end(), [](const PlannedStep& a, const PlannedStep& b) {
    // Fuller kernels among what takes the same but for rounding.
    const auto key = [](const PlannedStep& step) {
      return std::pair(static_cast<float>(merit_of(step)), -step.micro_batch);
    };
    return key(a) < key(b);
  });
  return found;
}

}  // namespace ringside
