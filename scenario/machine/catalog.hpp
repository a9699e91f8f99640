#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/interval.hpp"
#include "common/units.hpp"
#include "scenario/machine/machine.hpp"

/// What data sheets say: configs/catalog/, built into the program and so the same everywhere.
namespace ringside {

/// A GPU of configs/catalog/gpus.yaml. What is absent is not there (no NVLink) or not published.
struct GpuSheet {
  std::string model = {};
  Vendor vendor = Vendor::nvidia;
  Architecture architecture = Architecture::ampere;
  Bytes memory = {};
  BytesPerSecond memory_bandwidth = {};
  // Dense rates, 10^12 operations per second.
  std::optional<double> fp32 = {};
  std::optional<double> tf32 = {};
  std::optional<double> bf16 = {};
  std::optional<double> fp16 = {};
  int pcie_generation = 0;
  int pcie_lanes = 16;
  std::optional<int> nvlink_generation = {};
  std::optional<int> xgmi_generation = {};
  std::optional<int> links = {};  ///< NVLink or xGMI.
  std::optional<BytesPerSecond> links_bandwidth =
      {};                                 ///< All links, both directions, as data sheets print it.
  std::optional<bool> peer_to_peer = {};  ///< Over PCIe, with the vendor's driver.
  std::vector<std::string> sources = {};
  std::vector<std::string> unverified = {};  ///< Keys that no source above confirms.

  bool operator==(const GpuSheet&) const = default;
};

/// In the order of the file.
const std::vector<GpuSheet>& gpu_sheets();

// Kinds of links: configs/catalog/links.yaml, built in. sim/topology/link_kinds.hpp composes links.

/// Bytes per second, seconds, or a share of the data sheet's rate.
struct SourcedNumber {
  double value = 0;
  std::string source = {};  ///< Who says so, or that it is a guess.

  bool operator==(const SourcedNumber&) const = default;
};

struct PcieSheet {
  int generation = 0;
  SourcedNumber lane = {};              ///< Bytes per second of one lane.
  Interval<SourcedNumber> direct = {};  ///< Shares, peer to peer.
  Interval<SourcedNumber> staged = {};  ///< Shares, through host memory.
  Interval<SourcedNumber> host_memory =
      {};  ///< Bytes per second of one socket's, reading and writing together.
  Interval<SourcedNumber> inter_socket = {};  ///< Bytes per second, between CPUs of the time.

  bool operator==(const PcieSheet&) const = default;
};

/// One link of NVLink or xGMI, bytes per second.
struct CableSheet {
  int generation = 0;
  SourcedNumber data_sheet = {};
  Interval<SourcedNumber> bandwidth = {};

  bool operator==(const CableSheet&) const = default;
};

struct NetworkSheet {
  InterKind kind = InterKind::infiniband;
  std::optional<BytesPerSecond> up_to = {};  ///< Applies to NICs up to this rate; none = of any.
  Interval<SourcedNumber> bandwidth = {};    ///< Shares.
  Interval<SourcedNumber> latency = {};

  bool operator==(const NetworkSheet&) const = default;
};

struct LinkCatalog {
  std::vector<PcieSheet> pcie = {};
  Interval<SourcedNumber> pcie_latency = {};
  Interval<SourcedNumber> host_memory_latency = {};  ///< Latency of one crossing.
  Interval<SourcedNumber> staged_both_ways =
      {};  ///< One card's, both directions together, of its slot's rate.
  Interval<SourcedNumber> inter_socket_latency = {};  ///< On top of the slots'.
  SourcedNumber worst_host_bridge_share = {};
  std::vector<CableSheet> nvlink = {};
  CableSheet nvlink_ga102 = {};
  Interval<SourcedNumber> nvlink_latency = {};
  std::vector<CableSheet> nvswitch = {};
  Interval<SourcedNumber> nvswitch_latency = {};
  std::vector<CableSheet> xgmi = {};
  Interval<SourcedNumber> xgmi_latency = {};
  std::vector<NetworkSheet> networks = {};  ///< Networks of each kind by rate; the last of a kind is for any.
};

const LinkCatalog& link_catalog();

/// Throws Error{bad_input} that names file, line and key of every number without a source, of every range out
/// of order, of a kind or generation that stands twice, and of a network without a row for any rate.
LinkCatalog parse_link_catalog(const std::string& yaml, const std::string& file);

// The files of configs/catalog/ as they were when the program was built.

extern const std::string_view kGpusYaml;
extern const std::string_view kLinksYaml;

}  // namespace ringside
