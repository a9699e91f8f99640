#pragma once

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace ringside {

/// Why tests that need a GPU cannot run here; nothing when they can.
std::optional<std::string> no_gpu_because();

/// A test that needs a GPU; skipped with the reason where there is none.
class GpuCase : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::optional<std::string> reason = no_gpu_because()) {
      GTEST_SKIP() << *reason;
    }
  }
};

}  // namespace ringside
