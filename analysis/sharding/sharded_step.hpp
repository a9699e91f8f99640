#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/planner.hpp"
#include "analysis/sharding/group_times.hpp"
#include "analysis/sharding/sharded_memory.hpp"
#include "scenario/plan/plan.hpp"

/// One step of training a language model that is spread over all GPUs of an offer.
namespace ringside {

struct ShardedStep {
  Sharding sharding;  ///< With `checkpointing` decided.
  Layout layout;
  double bytes_per_number = 2;  ///< As of bytes_per_number().
  int micro_batch = 1;          ///< Samples of one pass of one replica.
  int micro_batches = 1;        ///< Passes of one replica per step.
  ShardedMemory memory;
  std::optional<Bytes> gpu_memory = {};
  std::optional<int> largest_batch = {};  ///< Micro-batch that fits; none = not even one sample.
  Interval<Seconds> compute;
  Interval<Seconds> communication;  ///< All collectives and sends of one GPU.
  Interval<Seconds> exposed;        ///< What they add to the step.
  Interval<Seconds> bubble;         ///< Stages of the pipeline that have nothing to do.
  Interval<Seconds> total;
  Interval<double> tokens_per_second;  ///< All GPUs together.
  std::optional<Cost> cost = {};  ///< Cost of the run, or of a billion tokens where its length is not known.
  std::optional<Interval<Seconds>> run = {};
  std::string basis = {};     ///< Where the speed of computing comes from.
  bool extrapolated = false;  ///< As of OfferEstimate.
  std::string problem = {};   ///< Why there is none; empty = there is one.
};

/// Spreads a plan's model in one way after another; what alike machines take is predicted once. The plan outlives this.
class ShardedPlanner {
 public:
  explicit ShardedPlanner(const Plan& plan) : plan_(plan) {}

  /// The samples of a step are the plan's; `micro_batch`: none = the plan's, where it says one.
  ShardedStep estimate(const Offer& offer, const Sharding& sharding, std::optional<int> micro_batch = {});

  /// Every way whose parts divide the model and the GPUs, with every power of two of a micro-batch that fits; the best by cost where it
  /// is known, else by time, first. Where nothing fits, the one way that needs least memory, with why not.
  std::vector<ShardedStep> search(const Offer& offer);

 private:
  GroupTimes& times_of(const Machine& machine);

  const Plan& plan_;
  std::list<GroupTimes> known_;       ///< One for each machine that differs in more than name and price.
  std::map<int, double> slowest_of_;  ///< expected_largest(), which is an integral.
};

/// What a way is compared by: cost, or seconds of a step per sample; infinite for one that cannot be.
double merit_of(const ShardedStep& step);

}  // namespace ringside
