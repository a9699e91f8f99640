#include "lab/planning/published_speeds.hpp"

#include <set>

#include <gtest/gtest.h>

#include "sim/topology/gpu_models.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

std::vector<PublishedSpeed> published() {
  const std::filesystem::path configs = std::filesystem::path(RINGSIDE_SOURCE_DIR) / "configs";
  return load_published_speeds(configs / "scaling" / "speeds.csv", configs / "workloads" / "tensors");
}

TEST(PublishedSpeeds, AreWhatFamilySpeedIsFittedTo) {
  const std::vector<PublishedSpeed> rows = published();
  for (const ModelFamily family : kModelFamilies) {
    const FamilySpeed fitted = fit_family(rows, family, "");
    EXPECT_NEAR(family_speed(family).arithmetic / fitted.arithmetic, 1, 0.02) << name(family);
    EXPECT_NEAR(family_speed(family).traversals / fitted.traversals, 1, 0.02) << name(family);
  }
}

TEST(PublishedSpeeds, SayWhichGpusAreNotExtrapolated) {
  std::set<std::pair<ModelFamily, std::string>> measured;
  for (const PublishedSpeed& row : published()) {
    EXPECT_TRUE(is_published(row.family, row.sheet)) << row.gpu;
    measured.emplace(row.family, chip_of(row.sheet));
  }
  for (const std::string& model : gpu_model_names()) {
    const GpuSheet sheet = *find_gpu_sheet(model);
    for (const ModelFamily family : kModelFamilies) {
      EXPECT_EQ(is_published(family, sheet), measured.contains({family, chip_of(sheet)})) << model;
    }
  }
}

TEST(PublishedSpeeds, OfOtherSourcesSayHowFastAGpuIs) {
  std::vector<double> factors;
  std::size_t inside = 0;
  for (const SpeedCheck& check : check_speeds(published())) {
    factors.push_back(check.factor());
    inside += check.inside() ? 1U : 0U;
  }
  const FactorSummary summary = summary_of_factors(factors, inside);
  EXPECT_LT(summary.median, 1.35);
  EXPECT_LT(summary.percentile_90, 2);
  EXPECT_GE(summary.coverage, 0.86);
  EXPECT_LE(summary.coverage, 0.94);
}

}  // namespace
}  // namespace ringside
