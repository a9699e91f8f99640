#include "examples/support/mlp.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace examples {
namespace {

using ::testing::ElementsAre;

Samples some_samples() {
  Samples samples{.inputs = Eigen::MatrixXf(3, 4), .labels = {0, 1, 1, 0}};
  samples.inputs << 0.5F, -1, 0.25F, 2, 1, 0.75F, -0.5F, 0.1F, -0.3F, 0.6F, 1.5F, -2;
  return samples;
}

TEST(Mlp, GradientsAreThoseOfFiniteDifferences) {
  Mlp model({3, 5, 4, 2}, 3);
  const Samples samples = some_samples();
  std::vector<float> gradients(model.parameters().size());
  model.forward(samples);
  model.backward(gradients, [](std::size_t) {});
  constexpr float kStep = 1e-3F;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const float value = model.parameters()[i];
    model.parameters()[i] = value + kStep;
    const float above = model.forward(samples);
    model.parameters()[i] = value - kStep;
    const float below = model.forward(samples);
    model.parameters()[i] = value;
    EXPECT_NEAR(gradients[i], (above - below) / (2 * kStep), 2e-3) << "parameter " << i;
  }
}

TEST(Mlp, GradientsOfTheLastLayerComeFirst) {
  Mlp model({3, 5, 2}, 3);
  std::vector<float> gradients(model.parameters().size());
  std::vector<std::size_t> order;
  model.forward(some_samples());
  model.backward(gradients, [&](std::size_t tensor) { order.push_back(tensor); });
  EXPECT_THAT(order, ElementsAre(3, 2, 1, 0));
  ASSERT_EQ(model.tensors().size(), 4U);
  EXPECT_EQ(model.tensors()[0].count, 15U);
  EXPECT_EQ(model.tensors()[3].offset, 15U + 5 + 10);
}

}  // namespace
}  // namespace examples
