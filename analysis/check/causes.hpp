#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/point.hpp"
#include "scenario/machine/machine.hpp"

/// Why a machine is slow: each cause changes the description, which is predicted again and compared.
namespace ringside {

enum class Cause {
  none,            ///< The description is right.
  something_else,  ///< No cause of this list.
  peer_to_peer_off,
  slots_half,  ///< Half the lanes, or one generation less.
  links_half,  ///< NVLink or xGMI: half of them up.
  nvls_off,
  half_nics,
  one_nic,
  shared_nic,      ///< One NIC carries half of the ranks' traffic.
  nics_half_rate,  ///< Or one of them, which a ring through all of them waits for.
  tcp,             ///< Sockets instead of RDMA.
  gpudirect_off,
  acs,  ///< Switches send what goes from device to device through the host bridge.
  algorithm_ring,
  algorithm_tree,
  protocol_ll,
  protocol_ll128,
  protocol_simple,
  one_process,  ///< All GPUs of a node launched by one process.
};

/// What changes the logarithm of a time by less slows nothing that anybody would notice.
inline constexpr double kNoticedSlowdown = 0.02;

/// How many causes the description is as likely as beforehand.
inline constexpr double kNoneBeforehand = 9;

/// What it is, as a clause: `GPUs do not reach each other's memory: copies go through host memory`.
std::string_view sentence(Cause cause);
/// The command that would show it.
std::string_view telling_command(Cause cause);

class ExpectedTimes;

/// Something that a log says about a cause.
struct CauseEvidence {
  Cause cause = Cause::none;
  std::string sentence = {};  ///< `line 57: NCCL_P2P_DISABLE is 1`
  bool speaks_for = true;
};

struct SuspectedCause {
  Cause cause = Cause::none;
  double probability = 0;  ///< Among all causes of the list, `none` and `something_else` included.
  double ratio =
      1;  ///< Bandwidth with it over bandwidth without, as predicted over the points, geometric mean.
  std::vector<std::string> evidence = {};  ///< What the log says for and against it.
};

/// The machine as it would be with the cause; the same machine where the cause cannot apply.
Machine with_cause(const Machine& machine, Cause cause);

/// The causes that would change the machine's predictions, most probable first. log(measured/predicted) of
/// each is taken to be Gaussian with the covariance of NcclSpread for machines of its kind; prior weights: a
/// cause 1, `none` 9, copies through host memory beside NVLink or xGMI 0.1; evidence counts a hundredfold.
/// `points` are measured, of NCCL's own collectives, of one machine and number of ranks.
std::vector<SuspectedCause> suspected_causes(ExpectedTimes& expected, std::span<const Point> points,
                                             std::span<const CauseEvidence> evidence);

/// Evidence against causes inside a node that is faster alone: `points` are a run on it. `sentence` says so.
std::vector<CauseEvidence> ruled_out_by(ExpectedTimes& alone, std::span<const Point> points,
                                        const std::string& sentence);

}  // namespace ringside
