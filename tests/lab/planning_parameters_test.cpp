#include "analysis/parameters/planning_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/plan/achieved_share.hpp"
#include "common/error.hpp"
#include "lab/planning/planning_fit.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {
namespace {

using testing::HasSubstr;

TEST(PlanningParameters, AreReadBackAsTheyWereWritten) {
  PlanningParameters parameters = planning_guesses();
  parameters[PlanningParameter::spread] = 1.0 / 3;
  EXPECT_EQ(parse_planning_parameters(to_yaml(parameters), "file"), parameters);
}

TEST(PlanningParameters, OfTheProgramLieWithinTheirBounds) {
  const auto meanings = planning_parameter_meanings();
  for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
    const double value = planning_parameters().values[i];
    if (meanings[i].bound > 1) {
      EXPECT_LE(value, 1.0001 * planning_guesses().values[i] * meanings[i].bound)
          << name(meanings[i].parameter);
      EXPECT_GE(value, planning_guesses().values[i] / meanings[i].bound / 1.0001)
          << name(meanings[i].parameter);
    }
  }
  for (const auto factor : {PlanningParameter::dense_factor, PlanningParameter::float8_factor,
                            PlanningParameter::adapters_factor, PlanningParameter::sparse_factor}) {
    EXPECT_GT(planning_parameters()[factor], 1);
  }
}

TEST(PlanningParameters, ThatNoRunBoreOnAreExtrapolated) {
  Workload workload;
  workload.transformer = Transformer{};
  const GpuSheet gpu = *find_gpu_sheet("H100-SXM");
  const LanguageSpeed guessed = language_speed(gpu, workload, false, planning_guesses());
  EXPECT_TRUE(guessed.extrapolated);
  EXPECT_DOUBLE_EQ(guessed.time.high,
                   kExtrapolatedWider * planning_guesses()[PlanningParameter::dense_factor]);
  EXPECT_FALSE(language_speed(gpu, workload, false, planning_parameters()).extrapolated);
}

TEST(PlanningParameters, ThatAreMissingOrNothingAreRefusedByName) {
  const auto message = [](const std::string& yaml) -> std::string {
    try {
      parse_planning_parameters(yaml, "numbers.yaml");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  std::string yaml = to_yaml(planning_guesses());
  EXPECT_THAT(message(yaml.substr(0, yaml.find("\nspread:"))), HasSubstr("spread"));
  yaml.replace(yaml.find("\nspread: ") + 9, 5, "0    ");
  EXPECT_THAT(message(yaml), HasSubstr("numbers.yaml: spread is 0"));
}

}  // namespace
}  // namespace ringside
