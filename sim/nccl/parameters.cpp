#include "sim/nccl/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "common/failures.hpp"
#include "scenario/yaml/yaml_tree.hpp"

namespace ringside {
namespace {

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
  for (const auto& [band, key] : spellings<SizeBand>()) {
    const std::vector<double> range = tree.at("quantiles").at(key).numbers();
    if (range.size() != 2) {
      throw bad_input("quantiles of {} are not two numbers", key);
    }
    spread.quantiles[static_cast<std::size_t>(band)] = {.low = range[0], .high = range[1]};
  }
  return spread;
}

}  // namespace

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
    for (const auto& [parameter, key] : spellings<NcclParameter>()) {
      fit.parameters.values[static_cast<std::size_t>(parameter)] = positive(root.at("parameters"), key);
    }
    for (const auto& [kind, key] : spellings<NcclKind>()) {
      fit.spreads[static_cast<std::size_t>(kind)] = parse_spread(root.at("spreads").at(key));
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
