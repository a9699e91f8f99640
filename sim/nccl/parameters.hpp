#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/spellings.hpp"

/// The numbers of NCCL's time model (sim/nccl/model.hpp): the values that `ringside-lab fit` wrote into
/// configs/nccl/, with what they mean, and which are part of the program.
namespace ringside {

/// They are called as their keys in configs/nccl/parameters.yaml.
enum class NcclParameter : std::size_t {
  launch_ll,
  launch_ll128,
  launch_simple,
  nvlink_step_ll,
  nvlink_step_ll128,
  nvlink_step_simple,
  pcie_step_ll,
  pcie_step_ll128,
  pcie_step_simple,
  network_hop_ll,
  network_hop_ll128,
  network_hop_simple,
  hopper_latency,
  blackwell_latency,
  amd_launch,
  single_process,
  slingshot_hop,
  efa_first_hop,
  efa_hop,
  tcpxo_hop,
  tcpx_hop,
  tree_hop,
  nvls_latency,
  nvls_hop,
  nvlink_rate,
  xgmi_rate,
  nvlink_ll_rate,
  pcie_rate,
  host_rate,
  bridge_gain,
  pcie_ll_rate,
  nvls_rate_hopper,
  nvls_rate_blackwell,
  nic_rate,
  shared_nic_rate,
  nvlink_gap,
  nvls_gap,
  network_gap,
  old_gap,
  ll_gap,
  slingshot_long_hop,
  fabric_growth,
};

inline constexpr std::size_t kNumNcclParameters = static_cast<std::size_t>(NcclParameter::fabric_growth) + 1;

/// All are positive.
struct NcclParameters {
  std::array<double, kNumNcclParameters> values = {};

  double operator[](NcclParameter parameter) const { return values[static_cast<std::size_t>(parameter)]; }
  bool operator==(const NcclParameters&) const = default;
};

enum class MachineClass { node_nvlink, node_pcie, multi_node };
enum class SizeBand { small, middle, large };  ///< Up to 64 KiB, up to 16 MiB, above.
inline constexpr std::size_t kNumSizeBands = 3;

/// The largest message of each band but the last, bytes: 64 KiB and 16 MiB.
inline constexpr std::array<double, kNumSizeBands - 1> kLargestOfBand = {65'536, 16'777'216};
SizeBand size_band(double bytes);

/// Machines that differ from their predictions alike: one set of intervals each.
enum class NcclKind { nvlink, rdma, other_network, pcie_peer, pcie_host };
inline constexpr std::size_t kNumNcclKinds = 5;

/// How machines of one kind differ from the model: of y = log(measured / predicted) over log2 of the size,
/// cov(y, y') = latency²·(1−s)(1−s') + bytes²·s·s' + shape²·exp(−½((log2 − log2')/doublings)²), s = a
/// logistic step at 512 KiB.
struct NcclSpread {
  double latency = 0.3;  ///< Standard deviation where latency decides.
  double bytes = 0.3;    ///< Where bytes do.
  double shape = 0.15;   ///< The rest, alike at sizes that are alike.
  double doublings = 2;  ///< How near they must be.
  /// 5 % and 95 % quantiles of y / NcclSystem::uncertainty() on machines of other sources (conformal).
  struct Quantiles {
    double low = -0.5;
    double high = 0.5;

    bool operator==(const Quantiles&) const = default;
  };
  std::array<Quantiles, kNumSizeBands> quantiles = {};

  bool operator==(const NcclSpread&) const = default;
};

/// Where between 0 (latency) and 1 (bytes) a size lies for NcclSpread.
double byte_share(double log2_bytes);

/// All that a fit leaves behind.
struct NcclFit {
  NcclParameters parameters;
  std::array<NcclSpread, kNumNcclKinds> spreads = {};
  std::string data_hash = {};  ///< Data hash of the systems it was fitted to (lab/nccl/nccl_fit.hpp).
  int systems = 0;
  int points = 0;
  std::vector<std::string> groups = {};  ///< The sources of those systems.

  const NcclSpread& spread(NcclKind kind) const { return spreads[static_cast<std::size_t>(kind)]; }
  bool operator==(const NcclFit&) const = default;
};

/// The fit that the program was built with.
const NcclFit& nccl_fit();

/// What `ringside-lab fit` wrote. Throws Error{bad_input} that names `origin`.
NcclFit parse_nccl_fit(const std::string& yaml, const std::string& origin);

/// configs/nccl/parameters.yaml as it was when the program was built.
extern const std::string_view kNcclParametersYaml;

}  // namespace ringside
