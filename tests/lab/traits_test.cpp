#include "lab/evaluation/traits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Traits, ComeFromTheDescription) {
  NcclSystem system;
  system.ranks = 16;
  system.nodes = 8;
  system.network = InterKind::efa;
  system.nics = 1;
  EXPECT_THAT(traits_of(system),
              testing::ElementsAre("GPUs of ampere", "network efa", "GPUs share NICs", "8 nodes or more"));
}

}  // namespace
}  // namespace ringside
