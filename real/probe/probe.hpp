#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "common/units.hpp"
#include "real/launch/launch_options.hpp"
#include "results/probe_sample.hpp"

/// Point-to-point probes on the executor's transport: α, β, γ are fitted from them. No collective.
namespace ringside {

struct ProbeOptions {
  LaunchOptions launch;
  Seconds budget{};  ///< for all probes together
  std::vector<int> ranks{2};
  /// Larger messages take as much longer as they are larger, on loopback and on links alike.
  Bytes max_bytes{16LL << 20};
  /// Each goes over the whole list of probes with ranks of its own, for a share of the budget: what one start
  /// of the ranks finds, the next may not. Ranks that somebody else has started do one.
  int repetitions = 1;
};

using ProbeProgress = std::function<void(double fraction, std::string_view what)>;

/// What fit_probes() needs: all sizes between ranks 0 and 1, and all ranks at once for each number of ranks.
/// Repetitions that would go far beyond the budget are not run.
std::vector<ProbeSample> probe(const ProbeOptions& options, const ProbeProgress& progress);

/// Every pair of the largest number of ranks: ping_pong of the smallest message, stream in each direction and
/// both_ways of large ones, of up to 16 MiB.
std::vector<ProbeSample> probe_pairs(const ProbeOptions& options, const ProbeProgress& progress);

}  // namespace ringside
