#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

/// The planner's numbers from published trainings: the values that `ringside-lab fit configs/scaling` wrote
/// into configs/planning/parameters.yaml, with what they mean, and which are part of the program.
namespace ringside {

/// They are called as their keys in configs/planning/parameters.yaml.
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
  dense_factor,
  float8_factor,
  adapters_factor,
  sparse_factor,
};
inline constexpr std::size_t kNumPlanningParameters =
    static_cast<std::size_t>(PlanningParameter::sparse_factor) + 1;

/// All are positive.
struct PlanningParameters {
  std::array<double, kNumPlanningParameters> values = {};

  double operator[](PlanningParameter parameter) const { return values[static_cast<std::size_t>(parameter)]; }
  double& operator[](PlanningParameter parameter) { return values[static_cast<std::size_t>(parameter)]; }
  bool operator==(const PlanningParameters&) const = default;
};

/// What a fit starts from.
PlanningParameters planning_guesses();

/// Those of the program.
const PlanningParameters& planning_parameters();

/// Throws Error{bad_input} that names `origin` and what is missing, or no number above zero.
PlanningParameters parse_planning_parameters(const std::string& yaml, const std::string& origin);

/// configs/planning/parameters.yaml as it was when the program was built.
extern const std::string_view kPlanningParametersYaml;

}  // namespace ringside
