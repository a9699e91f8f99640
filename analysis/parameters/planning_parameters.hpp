#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

/// The planner's numbers from published trainings: their meaning, and the values that `ringside-lab fit
/// configs/scaling` wrote into configs/planning/parameters.yaml, which are part of the program.
namespace ringside {

enum class PlanningParameter : std::size_t {
  share_ampere,
  share_hopper,
  share_blackwell,
  share_float8,
  attention_ampere,
  attention_hopper,
  traversals,
  layer_time,
  gathered_time,
  dequantised,
  experts,
  exposed_ddp,
  exposed_sharded,
  exposed_tensor,
  spread,
  // Quantiles, which follow from the runs of sources that were held out:
  dense_low,
  dense_high,
  adapters_low,
  adapters_high,
  sparse_low,
  sparse_high,
};
inline constexpr std::size_t kNumPlanningParameters =
    static_cast<std::size_t>(PlanningParameter::sparse_high) + 1;

struct PlanningParameterMeaning {
  std::string_view name;
  std::string_view unit;  ///< `us`, or `1` for a ratio.
  std::string_view meaning;
  double guess = 1;  ///< What a fit starts from,
  double bound =
      1;  ///< and how far it may go from there, as a factor each way; 1 = it is not fitted in steps.
};

/// In the order of PlanningParameter.
std::span<const PlanningParameterMeaning> planning_parameter_meanings();

/// All are positive.
struct PlanningParameters {
  std::array<double, kNumPlanningParameters> values = {};

  double operator[](PlanningParameter parameter) const { return values[static_cast<std::size_t>(parameter)]; }
  double& operator[](PlanningParameter parameter) { return values[static_cast<std::size_t>(parameter)]; }
  bool operator==(const PlanningParameters&) const = default;
};

PlanningParameters planning_guesses();

/// Those of the program.
const PlanningParameters& planning_parameters();

/// The file that holds them. Digits read back as the same numbers.
std::string to_yaml(const PlanningParameters& parameters);
/// Throws Error{bad_input} that names `origin` and what is missing, or no number above zero.
PlanningParameters parse_planning_parameters(const std::string& yaml, const std::string& origin);

}  // namespace ringside
