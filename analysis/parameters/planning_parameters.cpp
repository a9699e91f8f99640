#include "analysis/parameters/planning_parameters.hpp"

#include <utility>

#include "common/failures.hpp"
#include "common/spellings.hpp"
#include "scenario/yaml/yaml_tree.hpp"

namespace ringside {

// What the field reports of well-run trainings: 0.65 of the dense rate in the matrices of Narayanan et al.
// 2021 (arXiv 2104.04473, table 1) and less of a Hopper's, whose memory did not grow with its arithmetic;
// FlashAttention-2 at up to 73 % of an A100's rate (Dao 2023, arXiv 2307.08691) and 35 % of an H100's (Shah
// et al. 2024, arXiv 2407.08608); FSDP hides most gathers (Zhao et al. 2023, arXiv 2304.11277, §5). Shares of
// generations and attention keep close to their guesses: few sources tell them apart from what else differs
// between frameworks.
PlanningParameters planning_guesses() {
  using enum PlanningParameter;
  constexpr auto kGuesses = std::to_array<std::pair<PlanningParameter, double>>({
      {share_ampere, 0.72},   {share_hopper, 0.9},      {share_blackwell, 0.86}, {share_float8, 0.75},
      {attention_ampere, 1},  {attention_hopper, 1.85}, {traversals, 2},         {layer_time, 1000},
      {gathered_time, 1.5},   {dequantised, 12},        {experts, 1.4},          {exposed_ddp, 0.3},
      {exposed_sharded, 0.3}, {exposed_tensor, 0.75},   {spread, 0.005},         {dense_factor, 1.3},
      {float8_factor, 1.5},   {adapters_factor, 1.5},   {sparse_factor, 1.5},
  });
  static_assert(kGuesses.size() == kNumPlanningParameters);
  PlanningParameters guesses;
  for (const auto& [parameter, guess] : kGuesses) {
    guesses[parameter] = guess;
  }
  return guesses;
}

const PlanningParameters& planning_parameters() {
  static const PlanningParameters known =
      parse_planning_parameters(std::string(kPlanningParametersYaml), "configs/planning/parameters.yaml");
  return known;
}

PlanningParameters parse_planning_parameters(const std::string& yaml, const std::string& origin) {
  const YamlTree tree = parse_yaml_tree(yaml, origin);
  PlanningParameters parameters;
  for (const auto& [parameter, key] : spellings<PlanningParameter>()) {
    parameters[parameter] = tree.at(key).number();
    if (!(parameters[parameter] > 0)) {
      throw bad_input("{}: {} is {}, it must be above zero", origin, key, parameters[parameter]);
    }
  }
  return parameters;
}

}  // namespace ringside
