#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
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
///   φ(k, b)  how many times longer each message of b bytes takes when messages to, or from, k others leave, or reach, one rank
///            together: what one costs more than the other alone (fan_out over t(b), less 1) for each after the first; never below 1.
///            A shift is of ranks that come from a barrier. In later rounds the time of a relay (shifts one after another) takes
///            its place, and that of a ready relay, if less, where the target has started to receive a round ahead; beyond the largest
///            relay it differs from a shift by as many seconds as there.
///   γ(r, b)  seconds per byte that each of r reductions of b bytes takes that go on together; the measured curves, straight
///            lines between the measured r, in proportion beyond; constant beyond the ends of a curve.
///   s(b)     seconds until the sender of a message alone may go on, its kernel having the rest: measured, at most t(b).
///
/// A transfer has t(b) seconds of work and progresses at 1/max(σ(m, b), φ(k, b)), where m is the number of transfers under way
/// and k the larger number of ranks that its source sends to and that its target receives from; the rate changes when one of
/// them starts or completes. Its source goes on when s(b) of its work is done. A reduction or a local copy has γ(1, b)·b
/// seconds of work and keeps one core busy; it progresses at 1/(γ(r, b)/γ(1, b)), or, when transfers and reductions together are
/// more than the cores that are shared, at cores/(their number) where that is slower. The time that reductions take away
/// from transfers is not modelled beyond that.
namespace ringside {

/// What moves take when nothing else is going on.
class ProcessorCurves {
 public:
  /// `reduction` is used where no curve was measured.
  ProcessorCurves(const SharedProcessor& processor, SecondsPerByte reduction);

  double transfer(double bytes) const;   ///< t(b), seconds
  double send(double bytes) const;       ///< s(b), seconds
  double reduction(double bytes) const;  ///< γ(1, b)·b, seconds
  double crowding(int messages, double bytes, Receiver receiver = Receiver::fresh) const;  ///< σ(m, b)
  double fanning(int messages, double bytes) const;                                        ///< φ(k, b)
  double reduction_crowding(int reductions, double bytes) const;  ///< γ(r, b) / γ(1, b)

 private:
  /// Sizes and seconds (or seconds per byte), ascending.
  struct Curve {
    std::vector<double> bytes;
    std::vector<double> values;
  };

  static void add(Curve& curve, Bytes bytes, double value);
  static double interpolate(const Curve& curve, double bytes);
  static double time(const Curve& curve, double bytes);
  /// What a message of the largest of these relays takes, over what it takes in a shift.
  double share_in(const std::map<int, Curve>& relays, double bytes) const;
  template <typename Measured>
  static double crowding_of(const std::map<int, Curve>& curves, int number, const Measured& measured);

  std::optional<int> cores_;
  double default_reduction_;
  Curve transfers_;
  Curve sends_;
  Curve fan_outs_;
  std::map<int, Curve> reductions_;    ///< By number of ranks.
  std::map<int, Curve> shifts_;        ///< By number of messages at once.
  std::map<int, Curve> relays_;        ///< By number of ranks.
  std::map<int, Curve> ready_relays_;  ///< The same.
};

class ProcessorSharing final : public Medium {
 public:
  ProcessorSharing(const Network& network, Activities& activities);

  bool free(const Work& work) const override;
  Activities::Id begin(const Work& work) override;
  Stage finish(Activities::Id id) override;
  void share() override;
  std::vector<std::string> limits() const override;
  std::optional<NicUse> nics() const override { return std::nullopt; }

 private:
  enum class Phase : std::uint8_t { sending, arriving, local };
  struct UnderWay {
    Activities::Id id = 0;
    Phase phase = Phase::local;
    Rank source = 0;
    Rank target = 0;
    std::int64_t bytes = 0;
    Receiver receiver = Receiver::fresh;
    double work = 0;  ///< Seconds alone.
  };

  double slowdown_of(const UnderWay& activity);

  const Network& network_;
  Activities& activities_;
  ProcessorCurves curves_;
  std::vector<UnderWay> under_way_;
  std::map<std::pair<Rank, Rank>, int> between_;  ///< Transfers under way, by source and target.
  std::vector<int> leaving_;                      ///< Of these pairs, those of each source.
  std::vector<int> reaching_;                     ///< The same, of each target.
  int num_transfers_ = 0;                         ///< Under way.
  int num_reductions_ = 0;                        ///< And local copies.
  /// Slowdowns that were needed so far, by: local, bytes, how many together, how many at one rank, receiver.
  std::map<std::tuple<bool, std::int64_t, int, int, Receiver>, double> crowding_;
  bool changed_ = false;
  bool cores_full_ = false;
  double most_crowding_ = 1;
};

}  // namespace ringside
