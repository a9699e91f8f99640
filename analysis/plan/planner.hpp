#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/parameters/planning_parameters.hpp"
#include "analysis/plan/collective_times.hpp"
#include "analysis/plan/step.hpp"
#include "scenario/machine/catalog.hpp"

/// workload × offer × layout → step time, exposed communication, and what the whole run takes and costs.
namespace ringside {

/// Estimates offers of one plan; offers of alike machines are predicted once.
class Planner {
 public:
  /// The plan and the parameters outlive the planner.
  explicit Planner(const Plan& plan, const PlanningParameters& parameters = planning_parameters());
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// Plain data parallelism, whose gradients are synchronised as the plan says.
  PlannedStep estimate(const Offer& offer);

  /// The plan's language model, spread in this way. The samples of a step are the plan's; `micro_batch`: none
  /// = the plan's, where it says one.
  PlannedStep estimate(const Offer& offer, const Layout& layout, std::optional<int> micro_batch = {});

  /// Every layout that divides model and GPUs, micro-batches of every fitting power of two; the best by cost
  /// where it
  /// is known, else by time, first. Where nothing fits, the one layout that needs least memory, with why not.
  std::vector<PlannedStep> search(const Offer& offer);

  /// The plan's gradients in one message, whatever is computed.
  PlannedStep synchronise(const Offer& offer);

  /// What is another way than the plan's.
  struct Variation {
    std::optional<std::string> algorithm = {};
    std::optional<SynchronisationSettings> synchronisation = {};
    std::optional<int> gpus = {};
    /// Every link this many times as fast, with the latencies it has.
    double bandwidth_factor = 1;
    /// Everything is hidden that can be: all_reduces slow nothing down beside them.
    bool hides_all = false;
  };
  /// What of an offer somebody could measure.
  enum class Part { computing, communicating };
  /// A step's interval once that part is measured and typical. None as of vary().
  std::optional<Interval<Seconds>> total_if_known(const Offer& offer, Part part);

  /// One step, predicted from typical numbers; none where the algorithm cannot run on so many ranks.
  std::optional<TrainingStep> vary(const Offer& offer, const Variation& variation);

  /// Samples per second of all GPUs together when a step of the plan's passes takes so long.
  double samples_per_second(const TrainingStep& step, int gpus) const;

  /// The typical time of an all_reduce on so many GPUs; none where the algorithm cannot run there.
  std::optional<Seconds> all_reduce(const Offer& offer, const std::string& algorithm, int ranks, Bytes bytes);
  /// Through how many NICs it goes, as in Prediction.
  std::optional<NicUse> nics(const Offer& offer, const std::string& algorithm, int ranks, Bytes bytes);

 private:
  struct Known;
  struct Ends;

  Known& known(const Offer& offer);
  PointKey all_reduce_of(const std::string& algorithm, int ranks, Bytes bytes) const;
  TrainingStep simulate(Known& machine, const Variation& variation, const Ends& ends);
  /// Fills the times of a step in buckets.
  void add_times(Known& machine, PlannedStep& step);
  PlannedStep without_run(Known& machine);
  /// Likewise, of a model that is spread.
  void add_times(const Offer& offer, const GpuSheet& gpu, double of_replica, PlannedStep& step);
  GroupTimes& times(const Offer& offer);
  double slowest_of(int gpus);
  Interval<Seconds> total_of(Known& machine, Seconds typical);
  /// The most seconds that computing takes longer per second of all_reduces beside it.
  double most_slowdown(const Known& machine) const;
  /// Standard deviation of the computing times of GPUs over their mean, typically and at most.
  Interval<double> spread() const;

  const Plan& plan_;
  const PlanningParameters& parameters_;
  std::vector<Gradient> gradients_;  ///< None where they are not synchronised in buckets.
  std::list<Known> known_;
  std::map<int, double> slowest_of_;  ///< expected_largest(), which is an integral.
  std::unordered_multimap<std::string, Known*>
      by_outline_;  ///< What machines that are told apart seldom share.
};

}  // namespace ringside
