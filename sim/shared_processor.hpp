#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/medium.hpp"
#include "sim/network.hpp"

/// The model of ranks that were probed. On one machine they talk over loopback: what they compete for is not a wire but the
/// CPU cores that copy, checksum and reduce for all of them. Over links each rank has cores of its own. Every number in
/// it is measured by point-to-point probes.
///
///   t(b)     seconds that one message of b bytes takes alone: the measured curve, straight lines between its points
///            on logarithmic axes; below the smallest size the time of the smallest (a message is never faster than
///            that), beyond the largest a straight line with the slope of the last two points.
///   σ(m, b)  how many times longer each of m messages of b bytes takes that are under way together: the time of a
///            shift among m ranks over t(b). σ(1, b) = 1; straight lines between the measured m; beyond the largest in
///            proportion to m. A measurement below 1 (a busy core is a fast core) is kept, but never below 1/2.
///   γ(b)     seconds per byte that a reduction of b bytes takes on a core of its own; the measured curve, constant
///            beyond its ends.
///
/// A transfer has t(b) seconds of work and progresses at 1/σ(m, b), where m is the number of transfers under way; the
/// rate changes when one of them starts or completes. A reduction or a local copy has γ(b)·b seconds of work and keeps
/// one core busy; when transfers and reductions together are more than the cores that are shared, it progresses at cores/(their
/// number). The time that reductions take away from transfers is not modelled beyond that.
namespace ringside {

/// What moves take when nothing else is going on.
class ProcessorCurves {
 public:
  /// `reduction` is used where no curve was measured.
  ProcessorCurves(const SharedProcessor& processor, SecondsPerByte reduction);

  double transfer(double bytes) const;                ///< t(b), seconds
  double reduction(double bytes) const;               ///< γ(b)·b, seconds
  double crowding(int messages, double bytes) const;  ///< σ(m, b)

 private:
  /// Sizes and seconds (or seconds per byte), ascending.
  struct Curve {
    std::vector<double> bytes;
    std::vector<double> values;
  };

  static void add(Curve& curve, Bytes bytes, double value);
  static double interpolate(const Curve& curve, double bytes);
  static double time(const Curve& curve, double bytes);

  std::optional<int> cores_;
  double default_reduction_;
  Curve transfers_;
  Curve reductions_;
  std::map<int, Curve> shifts_;  ///< By number of ranks.
};

class ProcessorSharing final : public Medium {
 public:
  ProcessorSharing(const Network& network, Activities& activities);

  bool free(const Work& work) const override;
  Activities::Id begin(const Work& work) override;
  bool finish(Activities::Id id) override;
  void share() override;
  std::vector<std::string> limits() const override;

 private:
  struct UnderWay {
    Activities::Id id = 0;
    bool transfer = false;
    std::size_t size = 0;  ///< Index in `sizes_`.
  };
  /// σ of one message size, as far as it was needed.
  struct Size {
    std::int64_t bytes = 0;
    std::vector<double> crowding;  ///< By number of messages.
  };

  std::size_t size_index(std::int64_t bytes);
  double crowding(std::size_t size, int messages);

  const Network& network_;
  Activities& activities_;
  ProcessorCurves curves_;
  std::vector<Size> sizes_;  ///< A schedule has few different ones.
  std::vector<UnderWay> under_way_;
  int num_transfers_ = 0;
  bool changed_ = false;
  bool cores_full_ = false;
  double most_crowding_ = 1;
};

}  // namespace ringside
