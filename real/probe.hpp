#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "real/measure.hpp"

/// Point-to-point probes on the same transport as the executor's: what α, β, γ are fitted from. No collective.
namespace ringside {

enum class ProbeKind {
  ping_pong,  ///< one message there and back between two ranks; seconds = half the round trip
  stream,     ///< messages in one direction, several in flight; seconds per message
  both_ways,  ///< two ranks stream to each other at once; seconds per message of one direction
  shift,  ///< every rank sends to its right and receives from its left at once; seconds per step, slowest rank
  relay,  ///< every rank passes on what came, to its right and to its left in turn, several times; seconds per step, slowest rank
  ready_relay,  ///< the same, always to its right, and all receives start beforehand
  reduction,    ///< every rank reduces what has just arrived at once; ranks = 1: one rank alone
  send,         ///< one message from the first rank to the second; seconds until the first may go on
  fan_out,      ///< rank 0 sends to ranks 1 and 2 at once; seconds until both messages are there
};

std::string_view name(ProbeKind kind);

struct ProbeKey {
  ProbeKind kind = ProbeKind::ping_pong;
  int ranks = 2;  ///< how many take part at once
  Bytes bytes;
  int messages = 1;  ///< of shift: that each rank sends at once
  /// The pair of ping_pong, stream and both_ways; stream goes from the first to the second.
  Rank first = 0;
  Rank second = 1;

  bool operator==(const ProbeKey&) const = default;
};

/// What one pass over the probes found of one of them.
struct ProbeSample {
  ProbeKey key;
  std::vector<double> seconds;  ///< one entry per repetition, slowest rank
};

struct ProbeOptions {
  LaunchOptions launch;
  Seconds budget{20};  ///< for all probes together
  std::vector<int> ranks{2};
  Bytes max_bytes{64LL << 20};
  /// Each goes over all probes with ranks of its own, for a share of the budget: what one start of the ranks finds, the next
  /// may not. Ranks that somebody else has started do one.
  int passes = 1;
};

using ProbeProgress = std::function<void(double fraction, std::string_view what)>;

/// What fit_probes() needs: all sizes between ranks 0 and 1, and all ranks at once for each number of ranks. Passes that
/// would go far beyond the budget are left out.
std::vector<ProbeSample> probe(const ProbeOptions& options, const ProbeProgress& progress);

/// Every pair of the largest number of ranks: ping_pong of the smallest message, stream in each direction and both_ways of
/// large ones, of up to 16 MiB.
std::vector<ProbeSample> probe_pairs(const ProbeOptions& options, const ProbeProgress& progress);

}  // namespace ringside
