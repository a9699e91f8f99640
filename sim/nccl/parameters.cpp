#include "sim/nccl/parameters.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "scenario/yaml/yaml_tree.hpp"

namespace ringside {
namespace {

/// In the order of NcclParameter: the keys of configs/nccl/parameters.yaml.
constexpr std::array<std::string_view, kNumNcclParameters> kNames = {
    "launch_ll",      "launch_ll128",       "launch_simple",
    "nvlink_step_ll", "nvlink_step_ll128",  "nvlink_step_simple",
    "pcie_step_ll",   "pcie_step_ll128",    "pcie_step_simple",
    "network_hop_ll", "network_hop_ll128",  "network_hop_simple",
    "hopper_latency", "blackwell_latency",  "amd_launch",
    "single_process", "slingshot_hop",      "efa_first_hop",
    "efa_hop",        "tcpxo_hop",          "tcpx_hop",
    "tree_hop",       "nvls_latency",       "nvls_hop",
    "nvlink_rate",    "xgmi_rate",          "nvlink_ll_rate",
    "pcie_rate",      "host_rate",          "bridge_gain",
    "pcie_ll_rate",   "nvls_rate_hopper",   "nvls_rate_blackwell",
    "nic_rate",       "shared_nic_rate",    "nvlink_gap",
    "nvls_gap",       "network_gap",        "old_gap",
    "ll_gap",         "slingshot_long_hop", "fabric_growth"};
static_assert(!kNames.back().empty());

double positive(const YamlTree& tree, std::string_view key) {
  const double value = tree.at(key).number();
  if (value <= 0) {
    throw bad_input("{} is {}, it must be above zero", key, value);
  }
  return value;
}

NcclSpread parse_spread(const YamlTree& tree) {
  NcclSpread spread = {.latency = positive(tree, "latency"),
                       .bytes = positive(tree, "bytes"),
                       .shape = positive(tree, "shape"),
                       .doublings = positive(tree, "doublings"),
                       .quantiles = {}};
  for (std::size_t band = 0; band < kNumSizeBands; ++band) {
    const std::vector<double> range = tree.at("quantiles").at(name(static_cast<SizeBand>(band))).numbers();
    if (range.size() != 2) {
      throw bad_input("quantiles of {} are not two numbers", name(static_cast<SizeBand>(band)));
    }
    spread.quantiles[band] = {.low = range[0], .high = range[1]};
  }
  return spread;
}

}  // namespace

std::string_view name(NcclParameter parameter) { return kNames[static_cast<std::size_t>(parameter)]; }

SizeBand size_band(double bytes) {
  const auto band = std::lower_bound(kLargestOfBand.begin(), kLargestOfBand.end(), bytes);
  return static_cast<SizeBand>(band - kLargestOfBand.begin());
}

double byte_share(double log2_bytes) {
  constexpr double kStep = 19;  // 512 KiB.
  constexpr double kDoublings = 1.2;
  return 1 / (1 + std::exp(-(log2_bytes - kStep) / kDoublings));
}

NcclFit parse_nccl_fit(const std::string& yaml, const std::string& origin) {
  const YamlTree root = parse_yaml_tree(yaml, origin);
  try {
    NcclFit fit;
    for (std::size_t i = 0; i < kNumNcclParameters; ++i) {
      fit.parameters.values[i] = positive(root.at("parameters"), kNames[i]);
    }
    for (std::size_t i = 0; i < kNumNcclKinds; ++i) {
      fit.spreads[i] = parse_spread(root.at("spreads").at(name(static_cast<NcclKind>(i))));
    }
    const YamlTree& data = root.at("data");
    fit.data_hash = data.at("hash").text;
    fit.systems = static_cast<int>(data.at("systems").number());
    fit.points = static_cast<int>(data.at("points").number());
    for (const YamlTree& group : data.at("groups").list) {
      fit.groups.push_back(group.text);
    }
    return fit;
  } catch (const Error& error) {
    throw bad_input("{}: not a fit of NCCL's behaviour: {}", origin, error.what());
  }
}

const NcclFit& nccl_fit() {
  static const NcclFit kFit =
      parse_nccl_fit(std::string(kNcclParametersYaml), "configs/nccl/parameters.yaml");
  return kFit;
}

}  // namespace ringside
