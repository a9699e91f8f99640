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
  reduction,  ///< every rank reduces one buffer into another at once; ranks = 1: one rank alone
};

std::string_view name(ProbeKind kind);

struct ProbeKey {
  ProbeKind kind = ProbeKind::ping_pong;
  int ranks = 2;  ///< how many take part at once
  Bytes bytes;
  /// The pair of ping_pong, stream and both_ways; stream goes from the first to the second.
  Rank first = 0;
  Rank second = 1;
};

struct ProbeSample {
  ProbeKey key;
  std::vector<double> seconds;  ///< one entry per repetition, slowest rank
};

struct ProbeOptions {
  LaunchOptions launch;
  Seconds budget{20};  ///< for all probes together
  std::vector<int> ranks{2};
  Bytes max_bytes{64LL << 20};
};

using ProbeProgress = std::function<void(double fraction, std::string_view what)>;

/// What fit_probes() needs: all sizes between ranks 0 and 1, and all ranks at once for each number of ranks.
std::vector<ProbeSample> probe(const ProbeOptions& options, const ProbeProgress& progress);

/// Every pair of the largest number of ranks: ping_pong of the smallest message, stream in each direction and both_ways of
/// large ones, of up to 16 MiB.
std::vector<ProbeSample> probe_pairs(const ProbeOptions& options, const ProbeProgress& progress);

}  // namespace ringside
