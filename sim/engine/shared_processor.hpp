#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/engine/medium.hpp"
#include "sim/topology/network.hpp"

/// The model of ranks that were probed. On one machine they talk over loopback: what they compete for is not
/// a wire but the CPU cores that copy, checksum and reduce for all of them. Over links each rank has cores of
/// its own. Every number in it is measured by point-to-point probes.
///
///   t(b)     seconds of one message of b bytes alone: the measured curve, straight between its points on
///            logarithmic axes; below the smallest size its time, beyond the largest a straight line with the
///            slope of the last two points.
///   σ(m, b)  the contention factor of m messages of b bytes under way together: the time of a neighbour
///            exchange among m ranks over t(b). σ(1, b) = 1; straight between the measured m; beyond the
///            largest in proportion to m. One below 1 (a busy core is a fast core) is kept down to 1/2.
///   φ(k, b)  the contention factor of messages of b bytes between one rank and k others at once: the part of
///            one (fan_out over t(b), less 1) for each after the first; never below 1. Later rounds have a
///            chained exchange for a neighbour exchange, or one with receives posted, if less, where the
///            target receives a round ahead; beyond the largest both differ by as many seconds as there.
///   γ(r, b)  seconds per byte of each of r reductions of b bytes at once; the curves, straight lines
///            between the measured r, in proportion beyond; constant beyond the ends of a curve.
///   ρ(b)     the time of a message that is reduced while it arrives over one that is copied: a reducing
///            exchange over a neighbour exchange. Measured where messages go through memory; such a message
///            is complete when it has arrived, and t(b) becomes ρ(b)·t(b), in later rounds, too.
///   s(b)     seconds until the sender of a message alone may go on: measured, at most t(b).
///
/// A transfer has t(b) seconds of work and progresses at 1/max(σ(m, b), φ(k, b)), where m is the number of
/// transfers under way and k the larger number of ranks that its source sends to and that its target receives
/// from; the rate changes when one of them starts or completes. Its source goes on when s(b) of its work is
/// done. A reduction or a local copy has γ(1, b)·b seconds of work and keeps one core busy; it progresses at
/// 1/(γ(r, b)/γ(1, b)), or, when transfers and reductions together are more than the cores that are shared,
/// at cores/(their number) where that is slower. The time that reductions take away
/// from transfers is not modelled beyond that.
namespace ringside {

/// What moves take when nothing else is going on.
class ProcessorCurves {
 public:
  /// `reduction` is used where no curve was measured.
  ProcessorCurves(const SharedProcessor& processor, SecondsPerByte reduction);

  double transfer(double bytes) const;        ///< t(b), seconds
  double send(double bytes) const;            ///< s(b), seconds
  double reducing_share(double bytes) const;  ///< ρ(b)
  bool through_memory() const { return !reducing_.empty(); }
  double reduction(double bytes) const;  ///< γ(1, b)·b, seconds
  /// Seconds of the all_reduce that ranks on one machine have of their own. A meeting of all is an empty
  /// exchange. One shot is a meeting, and each rank copies and reads as many messages as there are ranks; an
  /// exchange does so with two. Two shots are two meetings, and a writing exchange of a rank's part with
  /// every rank on another core: those on its own find its data in their caches. Cores that more ranks share
  /// than were probed take longer in proportion. None where that was not probed.
  std::optional<double> two_shot(int ranks, double bytes) const;
  double contention(int messages, double bytes, Receiver receiver = Receiver::fresh) const;  ///< σ(m, b)
  double fan_contention(int messages, double bytes) const;                                   ///< φ(k, b)
  double reduction_contention(int reductions, double bytes) const;  ///< γ(r, b) / γ(1, b)

 private:
  /// Sizes and seconds (or seconds per byte), ascending.
  struct Samples {
    std::vector<double> bytes;
    std::vector<double> values;
  };

  static void add(Samples& curve, const CurvePoint& point);
  static const std::pair<const int, Samples>& probed_for(const std::map<int, Samples>& curves, int number);
  static double interpolate(const Samples& curve, double bytes);
  static double time(const Samples& curve, double bytes);
  /// A message's time in chained exchanges among most ranks, over that in a neighbour exchange.
  double share_in(const std::map<int, Samples>& chained, double bytes) const;
  template <typename Measured>
  static double contention_of(const std::map<int, Samples>& curves, int number, const Measured& measured);

  std::optional<int> cores_;
  double default_reduction_;
  Samples transfers_;
  Samples sends_;
  Samples fan_outs_;
  std::map<int, Samples> reductions_;  ///< By number of ranks.
  std::map<int, Samples> exchanges_;   ///< By number of messages at once.
  std::map<int, Samples> reducing_;    ///< By number of ranks.
  std::map<int, Samples> writing_;     ///< The same.
  std::map<int, Samples> chained_;     ///< By number of ranks.
  std::map<int, Samples> posted_;      ///< The same.
};

std::optional<Seconds> two_shot_in_memory(const Network& network, Bytes size);

class ProcessorSharing final : public Medium {
 public:
  ProcessorSharing(const Network& network, Activities& activities);

  bool free(const Work& work) const override;
  Activities::Id begin(const Work& work) override;
  Stage finish(Activities::Id id) override;
  void share() override;
  std::vector<Limit> limits() const override;
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
  std::vector<int> leaving_;                      ///< How many of these each source has.
  std::vector<int> reaching_;                     ///< The same for each target.
  int num_transfers_ = 0;                         ///< Under way.
  int num_reductions_ = 0;                        ///< And local copies.
  /// Slowdowns that were needed so far, by: local, bytes, how many together, how many at one rank, receiver.
  std::map<std::tuple<bool, std::int64_t, int, int, Receiver>, double> factors_;
  bool changed_ = false;
  bool cores_full_ = false;
  double most_contention_ = 1;
};

}  // namespace ringside
