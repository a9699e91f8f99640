#pragma once

#include <vector>

#include "common/units.hpp"
#include "results/codec/fields.hpp"
#include "results/probe_kind.hpp"

/// What point-to-point probes found: what α, β and γ and the curves of a machine are fitted from.
namespace ringside {

struct ProbeKey {
  ProbeKind kind = ProbeKind::ping_pong;
  int ranks = 2;  ///< how many take part at once
  Bytes bytes;
  int messages = 1;  ///< that each rank sends at once
  /// The pair of ping_pong, stream and both_ways; stream goes from the first to the second. A neighbour
  /// exchange goes as far; other than 1 the ranks are of two nodes.
  Rank first = 0;
  Rank second = 1;

  int distance() const { return second - first; }

  bool operator==(const ProbeKey&) const = default;
};

/// What one repetition of the whole list of probes found of one of them.
struct ProbeSample {
  ProbeKey key;
  std::vector<double> seconds;  ///< one entry per call, slowest rank
};

FieldTable<ProbeKey> table_of(const ProbeKey* any);
FieldTable<ProbeSample> table_of(const ProbeSample* any);

}  // namespace ringside
