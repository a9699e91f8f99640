#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/nccl/parameters.hpp"

/// What the numbers of NCCL's time model mean, and where a fit of them starts.
namespace ringside {

struct NcclParameterMeaning {
  NcclParameter parameter = {};
  std::string_view unit;  ///< `us`, or `1` for a ratio.
  std::string_view meaning;
  /// What a fit starts from, and how far (standard deviation of the logarithm) it may easily go from there.
  double guess = 1;
  double spread = 1;
};

/// In the order of NcclParameter.
std::span<const NcclParameterMeaning> nccl_parameter_meanings();

NcclParameters nccl_guesses();

/// YAML, to the last bit: what parse_nccl_fit() reads.
std::string to_yaml(const NcclFit& fit);

}  // namespace ringside
