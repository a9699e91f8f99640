#include "lab/planning/published_speeds.hpp"

#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

/// What lab/planning/training-lab ran.
std::set<std::pair<ModelFamily, std::string>> trained_here() {
  std::set<std::pair<ModelFamily, std::string>> result;
  std::ifstream lines(RINGSIDE_SOURCE_DIR "/lab/docs/measurements/h200-training-measured.jsonl");
  for (std::string line; std::getline(lines, line);) {
    const auto run = nlohmann::json::parse(line);
    const std::string model = run.at("model");
    const std::string gpu = run.at("gpu").get<std::string>().substr(std::string("NVIDIA ").size());
    if (model.starts_with("resnet") || model.starts_with("vgg")) {
      result.emplace(ModelFamily::convolutional, gpu);
    } else if (model.starts_with("vit") || model.starts_with("bert")) {
      result.emplace(ModelFamily::transformer, gpu);
    }
  }
  return result;
}

TEST(PublishedSpeeds, SayWhichGpusAreNotExtrapolated) {
  std::set<std::pair<ModelFamily, std::string>> measured = trained_here();
  EXPECT_EQ(measured.size(), 2U);
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
