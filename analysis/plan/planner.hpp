#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/plan/all_reduce_times.hpp"
#include "analysis/plan/gpu_memory.hpp"
#include "analysis/plan/run_cost.hpp"
#include "analysis/plan/step_model.hpp"
#include "common/interval.hpp"
#include "scenario/plan/plan.hpp"

/// workload × offer → step time, exposed communication, and what the whole run takes and costs.
namespace ringside {

/// One step of training on all GPUs of an offer, with 90 % intervals.
struct StepEstimate {
  int gpus = 1;
  double batch = 0;  ///< Samples per step, all GPUs together.
  Interval<Seconds> compute;
  Interval<Seconds> communication;
  Interval<Seconds> exposed;
  Interval<Seconds> waiting;  ///< For the slowest GPU.
  Interval<Seconds> total;
  Interval<double> efficiency;          ///< Speed as a share of N times the speed of one GPU.
  Interval<double> samples_per_second;  ///< All GPUs together.
  Interval<double> exposed_share;       ///< Share of the step.
  TrainingStep timeline;                ///< Typical.
  std::string algorithm;                ///< What was predicted.
  std::string limit;                    ///< What shares the traffic of the largest all_reduce; may be empty.
  std::optional<NicUse> nics = {};      ///< That it goes through, as in Prediction.

  bool communication_dominates() const { return exposed_share.typical > 0.5; }
};

struct OfferEstimate {
  /// Why there is none, a whole sentence; empty when there is.
  std::string problem = {};
  MemoryNeed memory = {};
  std::optional<Bytes> gpu_memory = {};
  std::optional<StepEstimate> step = {};
  std::optional<Interval<Seconds>> run =
      {};                         ///< All epochs; none = the workload does not say how many samples.
  std::optional<Cost> cost = {};  ///< Cost of the run, or of a million samples where its length is not known.
  /// Nobody published how fast this GPU trains such a model: its speed is from other GPUs or other models.
  bool extrapolated = false;
  /// What was taken for granted beside the offer's own assumptions, whole sentences.
  std::vector<std::string> assumptions = {};
};

/// Estimates offers of one plan; offers of alike machines are predicted once.
class Planner {
 public:
  /// The plan outlives the planner.
  explicit Planner(const Plan& plan);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  OfferEstimate estimate(const Offer& offer);

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
  /// What a step takes if measuring that part found what is typical: its interval without that part's. None as of vary().
  std::optional<Interval<Seconds>> total_if_known(const Offer& offer, Part part);

  /// One step, predicted from typical numbers; none where the algorithm cannot run on so many ranks. The offer has no problem.
  std::optional<TrainingStep> vary(const Offer& offer, const Variation& variation);

  /// Samples per second of all GPUs together when a step takes `time`.
  double samples_per_second(const TrainingStep& step, int gpus,
                            const SynchronisationSettings& settings) const;

  /// What one all_reduce on so many GPUs of an offer typically costs; none where the algorithm cannot run there.
  std::optional<Seconds> all_reduce(const Offer& offer, const std::string& algorithm, int ranks, Bytes bytes);
  /// Through how many NICs the largest of these goes that was asked for, as in Prediction.
  std::optional<NicUse> nics(const Offer& offer, const std::string& algorithm, int ranks);

  const std::vector<Gradient>& gradients() const { return gradients_; }

 private:
  struct Known;
  struct Ends;

  Known& known(const Offer& offer);
  AllReduceTimes& times(Known& machine, const std::string& algorithm, int ranks);
  TrainingStep simulate(Known& machine, const Variation& variation, const Ends& ends);
  StepEstimate step(Known& machine);
  Interval<Seconds> total_of(Known& machine, Seconds typical);
  /// The most seconds that computing takes longer per second of all_reduces beside it.
  static double most_slowdown(const Known& machine);

  const Plan& plan_;
  std::vector<Gradient> gradients_;
  std::list<Known> known_;
  std::map<int, double> largest_of_;  ///< expected_largest(), which is an integral.
  std::unordered_multimap<std::string, Known*>
      by_outline_;  ///< What machines that are told apart seldom share.
};

/// The machine without what does not change its speed, so that alike offers are predicted once.
Machine without_names(Machine machine);

/// The rate of the link of one GPU (of one node where there are several), one direction, as it is achieved: what
/// thresholds are stated in. None where a machine does not say it in one number.
std::optional<BytesPerSecond> link_bandwidth(const Machine& machine);

/// `PCIe 4.0 x16`, `NVLink 3`, …: what that link is.
std::string link_name(const Machine& machine);

}  // namespace ringside
