#include "analysis/sharding/sharded_step.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "analysis/plan/compute_time.hpp"
#include "analysis/sharding/sharded_compute.hpp"
#include "analysis/sharding/sharded_traffic.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "sim/nccl/gpu_models.hpp"

namespace ringside {
namespace {

constexpr double kBillionTokens = 1e9;
/// As of step_model.hpp, and for the same reasons: collectives slow the kernels beside them down.
constexpr Interval<double> kSlowdownBeside{.low = 0, .typical = 1, .high = 2};
/// All wait for the slowest, as in planner.cpp.
constexpr Interval<double> kSpreadOfGpus{.low = 0, .typical = 0.02, .high = 0.13};
using End = double Interval<double>::*;

struct Ends {
  End share;     ///< End of achieved_share(): the fast end is its high one.
  End cost;      ///< End of dequantising, spread and slowdown.
  TimeEnd time;  ///< End of what collectives cost.
};
constexpr Ends kFast{&Interval<double>::high, &Interval<double>::low, &Interval<Seconds>::low};
constexpr Ends kTypical{&Interval<double>::typical, &Interval<double>::typical, &Interval<Seconds>::typical};
constexpr Ends kSlow{&Interval<double>::low, &Interval<double>::high, &Interval<Seconds>::high};

/// Seconds of one end of every range.
struct StepParts {
  double compute = 0;
  double communication = 0;
  double exposed = 0;
  double bubble = 0;
  double total = 0;
};

/// `slowest`: expected_largest() of its GPUs.
StepParts parts_of(const Transformer& model, const ShardedStep& step, const GpuSheet& gpu, double rate,
                   const Interval<double>& share, double slowest, GroupTimes& times, const Ends& ends) {
  const Work work = work_of(model, step);
  const double speed = rate * share.*ends.share;
  const double memory = gpu.memory_bandwidth.value;
  const double pass =
      (work.forward + work.backward) / speed + work.dequantised * kDequantised.*ends.cost / memory;
  const double update = update_bytes(model, step) / memory;
  const Traffic traffic = traffic_of(model, step, times, ends.time);
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
  parts.bubble = static_cast<double>(step.layout.pipeline - 1) / step.sharding.interleave *
                 (pass + (step.layout.tensor > 1 ? traffic.between / step.micro_batches : 0));
  const double waiting = kSpreadOfGpus.*ends.cost * slowest * parts.compute;
  parts.total = parts.compute + parts.exposed + parts.bubble + waiting;
  return parts;
}

int data_on_node(const Sharding& sharding, const Offer& offer) {
  const int on_node = offer.machine.gpus_per_node.value_or(offer.gpus);
  const int data = offer.gpus / sharding.tensor / sharding.pipeline;
  return std::clamp(on_node / sharding.tensor, 1, std::max(1, data));
}

/// Why a model cannot be cut so; empty = it can.
std::string cannot_be_cut(const Transformer& model, const Sharding& sharding, const Offer& offer) {
  const int on_node = offer.machine.gpus_per_node.value_or(offer.gpus);
  const int parts = sharding.tensor * sharding.pipeline;
  if (offer.gpus % parts != 0) {
    return fmt::format("tensor {} × pipeline {} does not divide {} GPUs", sharding.tensor, sharding.pipeline,
                       offer.gpus);
  }
  if (sharding.tensor > on_node || on_node % sharding.tensor != 0) {
    return fmt::format("tensor {} does not divide the {} GPUs of a node", sharding.tensor, on_node);
  }
  if (model.heads % sharding.tensor != 0) {
    return fmt::format("tensor {} does not divide {} heads", sharding.tensor, model.heads);
  }
  if (sharding.interleave > 1 && model.layers % (sharding.pipeline * sharding.interleave) != 0) {
    return fmt::format("pipeline {} × interleave {} does not divide {} layers", sharding.pipeline,
                       sharding.interleave, model.layers);
  }
  if (sharding.pipeline > model.layers) {
    return fmt::format("pipeline {} has more stages than the {} layers", sharding.pipeline, model.layers);
  }
  const int data = offer.gpus / parts;
  if (sharding.expert > 1 && (model.experts % sharding.expert != 0 || data % sharding.expert != 0)) {
    return fmt::format("expert {} does not divide {} experts and {} data-parallel ranks", sharding.expert,
                       model.experts, data);
  }
  if (sharding.local_steps > 1 && sharding.style != ShardingStyle::ddp) {
    return "local steps need whole weights on every rank: style ddp";
  }
  if (sharding.style == ShardingStyle::hybrid && data % data_on_node(sharding, offer) != 0) {
    return "nodes have different numbers of data-parallel ranks";
  }
  return {};
}

/// Tensor-, pipeline- and expert-parallel parts in powers of two that can be; uncut where an offer cannot be used at all.
std::vector<Sharding> cuts_of(const Transformer& model, const Offer& offer) {
  std::vector<Sharding> cuts;
  for (int tensor = 1; tensor <= offer.gpus; tensor *= 2) {
    for (int pipeline = 1; tensor * pipeline <= offer.gpus; pipeline *= 2) {
      for (int expert = 1; expert <= std::max(1, model.experts); expert *= 2) {
        const Sharding cut{.tensor = tensor, .pipeline = pipeline, .expert = expert};
        if (cannot_be_cut(model, cut, offer).empty()) {
          cuts.push_back(cut);
        }
      }
    }
  }
  return cuts;
}

std::string gb_words(Bytes size) { return fmt::format("{:.3g} GB", static_cast<double>(size.value) / 1e9); }

std::optional<int> largest_micro_batch(const Workload& workload, const ShardedStep& step,
                                       bool checkpointing) {
  if (!step.gpu_memory) {
    return std::nullopt;
  }
  const auto need = [&](int batch) {
    return sharded_memory(workload, step.sharding, step.layout, checkpointing, batch, step.micro_batches)
        .total()
        .value;
  };
  const std::int64_t fixed = need(0);
  const std::int64_t each = need(1) - fixed;
  const std::int64_t left = step.gpu_memory->value - fixed;
  return left >= each && each > 0 ? std::optional(static_cast<int>(left / each)) : std::nullopt;
}

/// Samples of a step, all GPUs together.
double samples_of_step(const Plan& plan, int gpus) {
  const Workload& workload = plan.workload;
  return workload.global_batch
             ? *workload.global_batch
             : static_cast<double>(*workload.batch_per_gpu) * plan.synchronisation.accumulate * gpus;
}

}  // namespace

ShardedStep ShardedPlanner::estimate(const Offer& offer, const Sharding& sharding,
                                     std::optional<int> micro_batch) {
  const Workload& workload = plan_.workload;
  const Transformer& model = *workload.transformer;
  ShardedStep step;
  step.sharding = sharding;
  step.problem = offer.problem.empty() ? cannot_be_cut(model, sharding, offer) : offer.problem;
  const auto sheet = offer.machine.gpu ? find_gpu_sheet(offer.machine.gpu->model) : std::nullopt;
  if (step.problem.empty() && !sheet) {
    step.problem = "the catalogue does not know its GPU";
  }
  if (!step.problem.empty()) {
    return step;
  }
  step.layout = {.data = offer.gpus / sharding.tensor / sharding.pipeline,
                 .tensor = sharding.tensor,
                 .pipeline = sharding.pipeline,
                 .data_on_node = data_on_node(sharding, offer)};
  step.bytes_per_number = bytes_per_number(workload.compute.precision);
  const double samples = samples_of_step(plan_, offer.gpus);
  const double of_replica = samples / step.layout.data;
  if (of_replica < 1) {
    step.problem =
        fmt::format("its {} replicas have no sample each of the {:g} of a step", step.layout.data, samples);
    return step;
  }
  const int accumulate = plan_.synchronisation.accumulate;
  step.micro_batch = micro_batch.value_or(
      workload.batch_per_gpu.value_or(std::max(1, static_cast<int>(std::lround(of_replica / accumulate)))));
  step.micro_batches = std::max(1, static_cast<int>(std::ceil(of_replica / step.micro_batch)));
  step.gpu_memory = sheet->memory;
  const auto fits = [&](bool checkpointing) {
    step.sharding.checkpointing = checkpointing;
    step.memory = sharded_memory(workload, step.sharding, step.layout, checkpointing, step.micro_batch,
                                 step.micro_batches);
    step.largest_batch = largest_micro_batch(workload, step, checkpointing);
    return step.memory.total() <= *step.gpu_memory;
  };
  if (!fits(sharding.checkpointing.value_or(false)) && (sharding.checkpointing || !fits(true))) {
    step.problem = fmt::format(
        "does not fit: {} on each GPU, which has {}{}", gb_words(step.memory.total()),
        gb_words(*step.gpu_memory),
        step.largest_batch ? fmt::format("; a micro-batch of {} would fit", *step.largest_batch) : "");
    return step;
  }
  const double rate = flop_rate(*sheet, workload.compute.precision);
  if (!(rate > 0)) {
    step.problem =
        fmt::format("the catalogue has no {} rate of a {}", name(workload.compute.precision), sheet->model);
    return step;
  }
  const AchievedShare achieved = share_of(plan_, *sheet, step);
  step.extrapolated = achieved.extrapolated;
  step.basis =
      fmt::format("One {} computes at {}{} of its {:.4g} TFLOP/s{}.", sheet->model,
                  achieved.share.low < achieved.share.high ? percent(achieved.share.low) + " to " : "",
                  percent(achieved.share.high), rate / 1e12,
                  achieved.extrapolated ? ", which nobody published of a language model on it" : "");
  if (const double most = static_cast<double>(step.micro_batch) * step.micro_batches; most > of_replica) {
    step.basis += fmt::format(
        " {:g} samples of a step are not {} × {} each for {} {}: the one with most sets the pace.", samples,
        step.micro_batch, step.micro_batches, step.layout.data,
        step.layout.data == 1 ? "replica" : "replicas");
  }
  GroupTimes& times = times_of(offer.machine);
  const auto [known, is_new] = slowest_of_.try_emplace(offer.gpus);
  const double slowest = is_new ? known->second = expected_largest(offer.gpus) : known->second;
  try {
    const StepParts fast = parts_of(model, step, *sheet, rate, achieved.share, slowest, times, kFast);
    const StepParts typical = parts_of(model, step, *sheet, rate, achieved.share, slowest, times, kTypical);
    const StepParts slow = parts_of(model, step, *sheet, rate, achieved.share, slowest, times, kSlow);
    const auto range = [&](double StepParts::*member) {
      return Interval<Seconds>{.low = {fast.*member}, .typical = {typical.*member}, .high = {slow.*member}};
    };
    step.compute = range(&StepParts::compute);
    step.communication = range(&StepParts::communication);
    step.exposed = range(&StepParts::exposed);
    step.bubble = range(&StepParts::bubble);
    step.total = range(&StepParts::total);
  } catch (const Error& error) {
    step.problem = error.what();
    return step;
  }
  if (workload.input_per_node) {
    const int on_node = std::min(offer.gpus, offer.machine.gpus_per_node.value_or(offer.gpus));
    const Seconds fed{samples * on_node / offer.gpus / *workload.input_per_node};
    for (Seconds Interval<Seconds>::*end :
         {&Interval<Seconds>::low, &Interval<Seconds>::typical, &Interval<Seconds>::high}) {
      step.total.*end = std::max(step.total.*end, fed);
    }
  }
  const double tokens = samples * static_cast<double>(model.sequence);
  step.tokens_per_second = {.low = tokens / step.total.high.value,
                            .typical = tokens / step.total.typical.value,
                            .high = tokens / step.total.low.value};
  const double whole = workload.samples * workload.epochs;
  const double steps = whole > 0 ? whole / samples : kBillionTokens / tokens;
  const Interval<Seconds> run = with_interruptions(plan_, offer, steps * step.total);
  if (whole > 0) {
    step.run = run;
  }
  step.cost = cost_of(offer, run, whole > 0);
  return step;
}

GroupTimes& ShardedPlanner::times_of(const Machine& machine) {
  Machine alike = without_names(machine);
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const GroupTimes& times) { return times.machine() == alike; });
  return found != known_.end() ? *found : known_.emplace_back(std::move(alike));
}

std::vector<ShardedStep> ShardedPlanner::search(const Offer& offer) {
  std::vector<ShardedStep> found;
  std::optional<ShardedStep> least;
  const auto attempt = [&](const Sharding& sharding) {
    ShardedStep one = estimate(offer, sharding, 1);
    if (!one.problem.empty()) {
      if (!least || one.memory.total() < least->memory.total()) {
        least = std::move(one);
      }
      return;
    }
    // The largest micro-batch that fits: fewer gathers, fuller kernels; a pipeline wants many, so smaller ones are tried, too.
    const double of_replica = samples_of_step(plan_, offer.gpus) / one.layout.data;
    const int most = std::max(1, static_cast<int>(std::ceil(of_replica)));
    for (int batch = 1; batch <= std::min(most, one.largest_batch.value_or(1)); ++batch) {
      if (most % batch != 0 && !std::has_single_bit(static_cast<unsigned>(batch))) {
        continue;
      }
      ShardedStep step = estimate(offer, sharding, batch);
      if (step.problem.empty()) {
        found.push_back(std::move(step));
      }
    }
  };
  for (const Sharding& cut : cuts_of(*plan_.workload.transformer, offer)) {
    for (const auto style : {ShardingStyle::ddp, ShardingStyle::zero1, ShardingStyle::zero2,
                             ShardingStyle::fsdp, ShardingStyle::hybrid}) {
      const bool alone = offer.gpus == cut.tensor * cut.pipeline;  // Nobody to cut anything else with.
      if ((alone && style != ShardingStyle::ddp) ||
          (style == ShardingStyle::hybrid && offer.machine.nodes == 1)) {
        continue;
      }
      for (const bool checkpointing : {false, true}) {
        Sharding sharding = cut;
        sharding.style = style;
        sharding.checkpointing = checkpointing;
        attempt(sharding);
      }
    }
  }
  if (found.empty() && least) {
    return {*std::move(least)};
  }
  std::stable_sort(found.begin(), found.end(), [](const ShardedStep& a, const ShardedStep& b) {
    // Fuller kernels among what takes the same but for rounding.
    const auto key = [](const ShardedStep& step) {
      return std::pair(static_cast<float>(merit_of(step)), -step.micro_batch);
    };
    return key(a) < key(b);
  });
  return found;
}

double merit_of(const ShardedStep& step) {
  if (!step.problem.empty()) {
    return std::numeric_limits<double>::infinity();
  }
  return step.cost ? step.cost->amount.typical : 1 / step.tokens_per_second.typical;
}

}  // namespace ringside
