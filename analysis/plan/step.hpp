#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/gpu_memory.hpp"
#include "analysis/plan/step_model.hpp"
#include "common/interval.hpp"
#include "results/prediction.hpp"
#include "scenario/plan/plan.hpp"

/// One step of training on all GPUs of an offer, and what the run of such steps takes and costs.
namespace ringside {

struct Cost {
  Interval<double> amount;
  std::string currency = {};
};

/// With 90 % intervals. Of gradients alone, their synchronisation in one message: a step without computing.
struct PlannedStep {
  std::string problem = {};           ///< Why there is none, a whole sentence; empty = there is one.
  std::optional<Layout> layout = {};  ///< How a language model is spread, with `checkpointing` decided.
  Memory memory = {};
  std::optional<Bytes> gpu_memory = {};
  std::optional<int> largest_batch = {};  ///< Micro-batch that fits; none = not even one sample.
  int micro_batch = 1;                    ///< Samples of one pass of one replica.
  int micro_batches = 1;                  ///< Passes of one replica.
  double batch = 0;                       ///< Samples, all GPUs together.

  Interval<Seconds> compute = {};
  Interval<Seconds> communication = {};  ///< All collectives and sends of one GPU.
  Interval<Seconds> exposed = {};        ///< What they add to the step.
  Interval<Seconds> waiting = {};        ///< For the slowest GPU.
  Interval<Seconds> bubble = {};         ///< Stages of a pipeline that have nothing to do.
  Interval<Seconds> total = {};
  Interval<double> speed = {};  ///< All GPUs together: samples per second; tokens of a model that is spread.
  std::optional<Interval<Seconds>> run = {};  ///< All epochs; none = nothing says how long the run is.
  std::optional<Cost> cost = {};              ///< Cost of the run, or of run_unit().

  // Plain data parallelism alone has:
  Interval<double> efficiency = {};     ///< Speed as a share of N times the speed of one GPU.
  Interval<double> exposed_share = {};  ///< Share of the step.
  TrainingStep timeline = {};           ///< Typical.
  // It and gradients alone have:
  std::string algorithm = {};       ///< What was predicted: the plan's, or what stands in for it.
  std::string limit = {};           ///< What shares the traffic of the largest all_reduce; may be empty.
  std::optional<NicUse> nics = {};  ///< That it goes through, as in Prediction.
  // Gradients alone have, by algorithms of ours, which are lower bounds; none where they cannot run:
  std::optional<Seconds> ring = {};
  std::optional<Seconds> naive = {};

  /// Nobody published how fast this GPU trains such a model: its speed is from other GPUs or other models.
  bool extrapolated = false;
  /// Assumptions beside the offer's own, whole sentences; one says where the speed comes from.
  std::vector<std::string> assumptions = {};

  bool usable() const { return problem.empty(); }
};

/// What the cost of a run of unknown length is for: a million samples, or a billion tokens.
double run_unit(const PlannedStep& step);
/// Typical seconds of the run, or of run_unit().
double run_seconds(const PlannedStep& step);
/// Fills `run` and `cost`, with interruptions and the least bill, from `total` and `batch`.
void add_run(const Plan& plan, const Offer& offer, PlannedStep& step);

/// What a run on an offer that can be taken away assumes.
std::string interruption_sentence(const Plan& plan);

}  // namespace ringside
