#include "analysis/parameters/planning_parameters.hpp"

#include <fmt/format.h>

#include "analysis/parameters/planning_parameters_text.hpp"
#include "common/error.hpp"
#include "scenario/yaml/yaml_tree.hpp"

namespace ringside {
namespace {

// Guesses are what the field reports of well-run trainings: 0.65 of the dense rate in the matrices of
// Narayanan et al. 2021 (arXiv 2104.04473, table 1) and less of a Hopper's, whose memory did not grow with
// its arithmetic; FlashAttention-2 at half of a Hopper's rate (Shah et al. 2024, arXiv 2407.08608); FSDP
// hides most gathers (Zhao et al. 2023, arXiv 2304.11277, §5). Shares of generations and attention keep close
// to their guesses: few sources tell them apart from what else differs between frameworks.
constexpr auto kMeanings = std::to_array<PlanningParameterMeaning>({
    {"share_ampere", "1",
     "rate of matrix products on Ampere, as a share of the data sheet's dense rate in 16 bits", 0.72, 1.4},
    {"share_hopper", "1", "that share on Hopper, relative to Ampere", 0.9, 1.1},
    {"share_blackwell", "1", "likewise on Blackwell", 0.86, 1.1},
    {"share_float8", "1", "that share in 8 bits, relative to the share in 16 bits", 0.75, 1.4},
    {"attention_ampere", "1",
     "time of an operation of attention, relative to one of matrix products in 16 bits", 1, 1.4},
    {"attention_hopper", "1", "likewise on Hopper and later", 1.4, 1.4},
    {"traversals", "1",
     "times that kept activations cross GPU memory in a forward pass; twice as often in a backward pass", 2,
     3},
    {"layer_time", "us",
     "launching a layer's kernels in one direction, with adapters; half of it without, and in 8 bits", 1000,
     3},
    {"gathered_time", "1",
     "that time where a layer's weights are gathered first, relative to a layer of whole ones", 1.5, 1.6},
    {"dequantised", "1", "bytes of GPU memory that move to turn a four-bit weight back, per pass", 12, 3},
    {"experts", "1", "time of an operation of a mixture of experts, relative to one of a dense model", 1.4,
     1.6},
    {"exposed_ddp", "1", "exposed share of what could be hidden of all_reduces", 0.3, 3},
    {"exposed_sharded", "1", "likewise of gathers and reductions of sharded tensors", 0.3, 3},
    {"exposed_tensor", "1", "exposed share of tensor- and pipeline-parallel messages", 0.75, 1.33},
    {"spread", "1", "standard deviation of the computing times of GPUs over their mean", 0.005, 3},
    {"dense_low", "1", "5 % of runs take less than this of what is planned, beside what collectives explain",
     0.8, 1},
    {"dense_high", "1", "5 % take more than this", 1.35, 1},
    {"adapters_low", "1", "likewise with adapters", 0.7, 1},
    {"adapters_high", "1", "likewise with adapters", 1.6, 1},
    {"sparse_low", "1", "likewise of mixtures of experts", 0.7, 1},
    {"sparse_high", "1", "likewise of mixtures of experts", 1.6, 1},
});
static_assert(kMeanings.size() == kNumPlanningParameters);

}  // namespace

std::span<const PlanningParameterMeaning> planning_parameter_meanings() { return kMeanings; }

PlanningParameters planning_guesses() {
  PlanningParameters parameters;
  for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
    parameters.values[i] = kMeanings[i].guess;
  }
  return parameters;
}

const PlanningParameters& planning_parameters() {
  static const PlanningParameters known =
      parse_planning_parameters(std::string(kPlanningParametersYaml), "configs/planning/parameters.yaml");
  return known;
}

std::string to_yaml(const PlanningParameters& parameters) {
  std::string text =
      "# What published trainings say of plans of language models. Written by\n"
      "#     ringside-lab fit configs/scaling\n"
      "# and compiled into the program. `us` are microseconds, `1` is a ratio;\n"
      "# lab/docs/accuracy_language_models.md says how well they do on sources that had no part in them.\n";
  for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
    text += fmt::format("{}: {:<22} # {}: {}\n", kMeanings[i].name, fmt::format("{}", parameters.values[i]),
                        kMeanings[i].unit, kMeanings[i].meaning);
  }
  return text;
}

PlanningParameters parse_planning_parameters(const std::string& yaml, const std::string& origin) {
  const YamlTree tree = parse_yaml_tree(yaml, origin);
  PlanningParameters parameters;
  for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
    parameters.values[i] = tree.at(kMeanings[i].name).number();
    if (!(parameters.values[i] > 0)) {
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} is {}, it must be above zero", origin,
                                                    kMeanings[i].name, parameters.values[i]));
    }
  }
  return parameters;
}

}  // namespace ringside
