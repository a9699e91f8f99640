#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/check/causes.hpp"
#include "common/interval.hpp"
#include "results/point.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/nccl/parameters.hpp"
#include "sim/nccl/system.hpp"

/// Is this machine as fast as its description says? Measured times of NCCL's own collectives against the
/// interval that machines of the same kind, held out of the fit, were seen to lie in.
namespace ringside {

/// `held_back`: as fast as many such machines, but the log names a cause that slows it. `incomplete`,
/// `failed`: the times are those of a healthy machine, but the run did not end, or its results do not count.
enum class Standing { healthy, slower, faster, held_back, incomplete, failed };

/// What the NICs of a node passed in a run of several nodes, beside their line rate.
struct NicShare {
  Collective collective = Collective::all_reduce;
  int nodes = 2;
  int nics = 1;  ///< That carry the traffic of a node's ranks.
  Bytes bytes = {};
  double busbw = 0;      ///< GB/s, the most of all sizes.
  double line_rate = 0;  ///< GB/s of one NIC.
  /// GB/s through one NIC in each direction while a ring runs at that bus bandwidth.
  double as_ring = 0;
  double tree_factor = 1;  ///< Tree of an all_reduce: bus bandwidth at line rate over a ring's.
  bool nvls = false;       ///< NVLSTree exists there.
};

/// What a band of sizes says.
struct BandVerdict {
  SizeBand band = SizeBand::small;
  int points = 0;
  double ratio = 1;  ///< Measured over predicted bandwidth, median over the band's sizes; above 1 is faster.
  double share_as_slow = 0.5;  ///< Share of such machines that are at least as slow.
  Standing standing = Standing::healthy;
  // The size that stands for the band, nearest its median.
  Bytes bytes = {};
  double measured = 0;             ///< Bus bandwidth, GB/s.
  Interval<double> expected = {};  ///< Likewise; 90 % interval.
};

struct MachineCheck {
  std::vector<Point> points = {};  ///< Measured and predicted, with the 90 % interval.
  std::vector<BandVerdict> bands = {};
  std::vector<SuspectedCause> causes =
      {};  ///< Where it is alarmed or in the slowest fifth, most probable first.
  /// Where it is not: a cause that the log speaks for, more probable with these times than all others and
  /// none together. Its ratio is of the band that it slows most.
  std::optional<SuspectedCause> held_back = {};
  /// What else the log says for causes that slow some band of such a machine.
  std::vector<CauseEvidence> hints = {};
  std::optional<NicShare> nics = {};

  bool alarmed() const;
  /// No band is called healthy any more.
  void withdraw(Standing instead);
};

/// The most likely causes: of a machine that is alarmed those that are likelier than that the description is
/// right, `something_else` among them; of another one those that fit its times better than the description.
std::vector<SuspectedCause> likely_causes(const MachineCheck& check);

/// Compares points of one machine. A size's distance from its prediction is read off two half Gaussians whose
/// 5 % and 95 % are the interval's ends; a band has the median. A band is slower where a smaller share of
/// machines than is rare would be as slow. Points of other algorithms than `native`, without a time, or
/// that no model has, are left
/// out; `points` is empty when none is left. Throws as nccl_system() does.
MachineCheck check_machine(const Machine& machine, std::span<const Point> points,
                           std::span<const CauseEvidence> evidence, const NcclFit& fit);
/// The same for one of many runs of a machine.
MachineCheck check_machine(ExpectedTimes& expected, std::span<const Point> points,
                           std::span<const CauseEvidence> evidence);

/// `busbw@1GiB >= p05`: the bandwidth (`time@…`: time) at a size against such machines' quantile.
struct Gate {
  std::string text;  ///< As written.
  bool of_time = false;
  Bytes bytes = {};
  double quantile = 0.05;  ///< p05 = the slowest 5 % of machines are below.
};
/// Throws Error{bad_input}.
Gate parse_gate(const std::string& text);

struct GateOutcome {
  bool passed = false;
  double measured = 0;  ///< GB/s of bus bandwidth, or seconds.
  double bound = 0;     ///< Likewise.
};
/// Throws Error{bad_input} when the size was not measured.
GateOutcome apply_gate(const Gate& gate, const MachineCheck& check);

/// Bus bandwidth, GB/s; 0 where it is not defined.
double gigabytes(const PointKey& key, Seconds time);
/// GB/s with three digits, as people quote bandwidths.
std::string rate_text(double gigabytes);

/// Whole sentences: the share of the line rate, and whether Tree or NVLSTree may exceed it.
std::string sentence(const NicShare& share);

}  // namespace ringside
