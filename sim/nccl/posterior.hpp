#pragma once

#include <optional>
#include <vector>

#include "common/interval.hpp"
#include "sim/nccl/model.hpp"

/// What NCCL takes on one machine of a kind, given what somebody measured on it.
namespace ringside {

/// An all_reduce that was measured on the machine.
struct NcclObservation {
  NcclSystem system;
  double bytes = 0;
  double seconds = 0;
};

/// A copy between two GPUs that was measured on the machine.
struct NcclCopy {
  NcclSystem system;  ///< System of the two GPUs; what it says of more is not looked at.
  BytesPerSecond rate;
};

/// What somebody measured. Observations of another class of machine than is asked about (one node of several) say nothing and
/// are skipped.
struct NcclKnowledge {
  std::vector<NcclObservation> observations = {};
  std::optional<NcclCopy> copy = {};
};

/// log(measured / model) is taken to be Gaussian over machines with the covariance of NcclSpread: a constant where latency decides,
/// one where bytes do, and a smooth rest. What is known conditions it, so that other sizes and, less surely, other numbers of
/// ranks follow. One known row that the others contradict counts little (from three on, when it can be told). Without
/// anything known the model is left alone and the interval is that of machines of the kind that were held out.
class NcclPosterior {
 public:
  /// The posterior for machines like `system`. `fit` must outlive this.
  NcclPosterior(const NcclFit& fit, const NcclSystem& system, const NcclKnowledge& knowledge);

  /// Another collective of the same machine is as far from the model as its all_reduce.
  /// Seconds, with their 90 % interval.
  Interval<double> predict(const NcclSystem& system, Collective collective, double bytes) const;
  /// Whether there is anything that sharpens.
  bool sharpened() const { return !known_.empty(); }

 private:
  /// Where a time lies for the covariance.
  struct Place {
    double byte_share = 0;
    double log2_bytes = 0;
    double log2_ranks = 0;
    NcclKind kind = NcclKind::nvlink;
    bool has_shape = true;  ///< A copy is no all_reduce: it has no share in the smooth rest.
  };
  struct KnownTime {
    Place place;
    double log_ratio = 0;  ///< log(measured / model).
    double noise = 0;      ///< Standard deviation.
    double weight = 0;     ///< Weight of this one in every mean (K⁻¹ y).
  };

  static Place place_of(const NcclSystem& system, double bytes);
  double covariance(const Place& a, const Place& b) const;
  void learn(const NcclObservation& observation);
  void learn(const NcclCopy& copy);
  void condition();
  void solve();
  double variance(const Place& place) const;

  const NcclFit& fit_;
  const NcclSpread& spread_;
  std::vector<KnownTime> known_;
  std::vector<double> inverse_;  ///< K⁻¹ of the known, row by row.
};

}  // namespace ringside
