#pragma once

#include <optional>
#include <vector>

#include "sim/nccl_model.hpp"

/// What NCCL takes on one machine of a class, given what somebody measured on it.
namespace ringside {

/// An all_reduce that was measured on the machine.
struct NcclObservation {
  NcclSystem system;
  double bytes = 0;
  double seconds = 0;
};

/// A copy between two GPUs that was measured on the machine.
struct NcclCopy {
  NcclSystem system;  ///< Of the two GPUs; what it says of more is not looked at.
  BytesPerSecond rate;
};

/// What somebody measured. Observations of another class of machine than is asked about (one node of several) say nothing and
/// are skipped.
struct NcclKnowledge {
  std::vector<NcclObservation> observations = {};
  std::optional<NcclCopy> copy = {};
};

struct NcclRange {
  double seconds = 0;
  double low = 0;  ///< 90 % interval.
  double high = 0;
};

/// log(measured / model) is taken to be Gaussian over machines: a deviation of the latencies, one of the rates (which grows
/// with the ranks, NcclSpread::wire_per_doubling) and a smooth rest, alike at sizes within a factor of four. Observations condition
/// it; the deviations then move the model itself, so that other sizes and numbers of ranks follow. Without observations the
/// model is left alone and the interval is that of the class.
class NcclPosterior {
 public:
  /// `fit` must outlive this.
  NcclPosterior(const NcclFit& fit, MachineClass machine_class, const NcclKnowledge& knowledge);

  NcclRange predict(const NcclSystem& system, double bytes) const;
  NcclEstimate estimate(const NcclSystem& system, double bytes) const;
  /// Standard deviation of the logarithm of time.
  double deviation(const NcclSystem& system, double bytes) const;
  /// Whether there is anything that sharpens.
  bool sharpened() const { return !known_.empty(); }

 private:
  /// d log T / d deviation at one point, and where that point is.
  struct Slope {
    double latency = 0;
    double wire = 0;
    double log2_bytes = 0;
    double log2_ranks = 0;
    bool has_shape = true;  ///< A copy is no all_reduce: it has no share in the smooth rest.
  };
  struct KnownTime {
    std::optional<NcclObservation> observation;  ///< None: a copy.
    Slope slope;
    double log_ratio = 0;  ///< log(measured / model), the model without deviations.
    double noise = 0;      ///< Standard deviation.
    double weight = 0;     ///< Of this one in every mean (K⁻¹ r).
  };

  Slope slope_at(const NcclSystem& system, double bytes, const NcclDeviation& deviation) const;
  double wire_covariance(double log2_ranks_a, double log2_ranks_b) const;
  double shape_covariance(const Slope& a, const Slope& b) const;
  double covariance(const Slope& a, const Slope& b) const;
  NcclDeviation deviation_for(int ranks) const;
  void learn(const NcclObservation& observation);
  void learn(const NcclCopy& copy, MachineClass machine_class);
  void condition();
  double variance(const Slope& slope) const;

  const NcclFit& fit_;
  const NcclSpread& spread_;
  std::vector<KnownTime> known_;
  std::vector<double> inverse_;  ///< K⁻¹ of the known, row by row.
};

}  // namespace ringside
