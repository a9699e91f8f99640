#pragma once

#include <optional>
#include <span>
#include <string>

#include "results/point.hpp"
#include "sim/nccl/system.hpp"

/// What the NICs of a node passed in a run of several nodes, beside their line rate.
namespace ringside {

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

/// A ring brings its bus bandwidth out of each node. None on one node or without a ring.
std::optional<NicShare> nic_share(const NcclSystem& system, double line_rate, std::span<const Point> points);

/// Bus bandwidth, GB/s; 0 where it is not defined.
double gigabytes(const PointKey& key, Seconds time);
/// GB/s with three digits, as people quote bandwidths.
std::string rate_text(double gigabytes);

/// Whole sentences: the share of the line rate, and whether Tree or NVLSTree may exceed it.
std::string sentence(const NicShare& share);

}  // namespace ringside
