#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/interval.hpp"
#include "sim/nccl/model.hpp"

/// Times of NCCL's collectives and our schedules on one machine, given measurements on it.
namespace ringside {

/// A schedule of ours as the machine's description alone predicts it.
struct ScheduleTime {
  std::string algorithm = {};
  double seconds = 0;
  double byte_share = 0;  ///< Share of its time that is not latency.
};

/// A collective that was measured on the machine.
struct NcclObservation {
  NcclSystem system;
  Collective collective = Collective::all_reduce;
  double bytes = 0;
  double seconds = 0;
  std::optional<ScheduleTime> schedule = {};  ///< none: NCCL's own
};

/// A copy between two GPUs that was measured on the machine.
struct NcclCopy {
  NcclSystem system;  ///< System of the two GPUs; what it says of more is not looked at.
  BytesPerSecond rate;
};

/// What somebody measured. Observations of another class of machine than is asked about (one node of several)
/// say nothing and are skipped.
struct NcclKnowledge {
  std::vector<NcclObservation> observations = {};
  std::optional<NcclCopy> copy = {};
  /// What a small message between two GPUs took, of what the machine's description says.
  std::optional<double> copy_latency_ratio = {};
};

/// log(measured / model) is taken to be Gaussian over machines with the covariance of NcclSpread: a constant
/// where latency decides, one where bytes do, and a smooth rest. What is known conditions it, so that other
/// sizes and, less surely, other numbers of ranks follow. Our schedules share both constants (the same links)
/// and deviate as well: over bytes as NCCL's ring from a copy, in latency as far again. One known row that
/// the others contradict counts little (from three on, when it can be told). Without anything known the model
/// is left alone and the interval is that of machines of the kind that were held out.
class NcclPosterior {
 public:
  /// The posterior for machines like `system`. `fit` must outlive this.
  NcclPosterior(const NcclFit& fit, const NcclSystem& system, const NcclKnowledge& knowledge);

  /// NCCL's own: seconds, with their 90 % interval. Neither falls from one power of two to the next.
  Interval<double> predict(const NcclSystem& system, Collective collective, double bytes) const;

  struct ScheduleQuestion {
    const NcclSystem& system;
    Collective collective = Collective::all_reduce;
    double bytes = 0;
    /// As the description predicts it; where a copy is known, with links that give that copy's bandwidth.
    ScheduleTime time = {};
    /// What the description alone leaves open, as factors of its own prediction.
    double low = 1;
    double high = 1;
  };
  Interval<double> predict(const ScheduleQuestion& question) const;

  /// Whether there is anything that sharpens.
  bool sharpened() const { return !known_.empty(); }

 private:
  enum class Subject { native, schedule, copy, copy_latency };

  /// Where a time lies for the covariance.
  struct Place {
    Subject subject = Subject::native;
    std::string series = {};  ///< Collective and algorithm.
    double byte_share = 0;
    /// How the model grows with the size: 0 where latency decides, 1 where bytes do, or no row is known.
    double growth = 0;
    double log2_bytes = 0;
    double log2_ranks = 0;
    NcclKind kind = NcclKind::nvlink;
    double deviation =
        0;  ///< Standard deviation from what its machine's all_reduces say, of NCCL's other collectives.
  };
  struct KnownTime {
    Place place;
    double log_ratio = 0;  ///< log(measured / model).
    double noise = 0;      ///< Standard deviation.
    double weight = 0;     ///< Weight of this one in every mean (K⁻¹ y).
    double seconds = 0;    ///< As measured; of a collective.
  };
  /// What is unknown of a time before anything is: quantiles of log(measured / model).
  struct Unknown {
    double low = 0;
    double high = 0;
    double learned = 1;  ///< The interval's part of that once the time is learned rather than unknown.
  };

  Place place_of(const NcclSystem& system, Collective collective, double bytes,
                 const ScheduleTime* schedule) const;
  double covariance(const Place& a, const Place& b, bool copied) const;
  double shared_part(const Place& a, const Place& b, bool copied) const;
  double own_part(const Place& a, const Place& b, bool copied) const;
  void learn(const NcclObservation& observation);
  void learn(const NcclCopy& copy);
  void condition();
  void solve();
  double variance(const Place& place) const;
  Interval<double> predict_in(SizeBand band, const NcclSystem& system, Collective collective,
                              double bytes) const;
  Interval<double> predict_across_bands(const NcclSystem& system, Collective collective, double bytes) const;
  double by_known_rows(double model, double shift, const Place& place) const;
  Interval<double> around(double seconds, const Place& place, const Unknown& unknown) const;

  const NcclFit& fit_;
  const NcclSpread& spread_;
  bool has_rows_;  ///< Times are known: only they are compared by growth, which takes as long as a time.
  bool copied_ = false;  ///< A copy's bandwidth is known.
  std::vector<KnownTime> known_;
  std::vector<double> inverse_;  ///< K⁻¹ of the known, row by row.
};

}  // namespace ringside
