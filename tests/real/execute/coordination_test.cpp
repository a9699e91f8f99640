#include "real/execute/coordination.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/backend/threads/transport.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

void with_coordination(int num_ranks, const std::function<void(Coordination&)>& body) {
  run_as_threads(num_ranks, 20s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    ASSERT_EQ(coordination.rank(), transport->rank());
    body(coordination);
  });
}

TEST(Coordination, EveryRankHearsTheLargestValues) {
  for (const int num_ranks : {1, 2, 3, 5}) {
    with_coordination(num_ranks, [&](Coordination& coordination) {
      const double rank = coordination.rank();
      const std::vector<double> own = {rank, -rank, 7 - rank, rank == num_ranks - 1 ? 40.0 : -40.0};
      EXPECT_THAT(coordination.maximum(own), ElementsAre(num_ranks - 1, 0, 7, 40));
      EXPECT_TRUE(coordination.maximum({}).empty());
    });
  }
}

TEST(Coordination, WhatHoldsAtOneRankIsKnownToAll) {
  for (const int num_ranks : {1, 2, 4}) {
    with_coordination(num_ranks, [&](Coordination& coordination) {
      EXPECT_FALSE(coordination.anywhere(false));
      for (Rank one = 0; one < num_ranks; ++one) {
        EXPECT_TRUE(coordination.anywhere(coordination.rank() == one));
      }
    });
  }
}

TEST(Coordination, EveryValueSurvivesAtItsPlace) {
  with_coordination(4, [&](Coordination& coordination) {
    const std::vector<double> values = {-1e300, 0, -std::numeric_limits<double>::infinity(), 3.5};
    EXPECT_EQ(coordination.all_values(values[static_cast<std::size_t>(coordination.rank())]), values);
  });
}

TEST(Coordination, TextsOfAnyLengthAndLettersAreCutAtTheSamePlace) {
  const std::vector<std::string> said = {std::string(95, 'a') + "yz", "", "\xC3\xA4 \x01",
                                         std::string(96, 'b')};
  with_coordination(4, [&](Coordination& coordination) {
    EXPECT_THAT(coordination.texts(said[static_cast<std::size_t>(coordination.rank())]),
                ElementsAre(std::string(95, 'a') + "y", "", said[2], said[3]));
  });
}

TEST(Coordination, TheFirstRankGathersWhatEachHas) {
  const std::vector<std::vector<double>> all = {{1}, {}, {2, -3, 4}, {0}};
  with_coordination(4, [&](Coordination& coordination) {
    const auto gathered = coordination.gathered(all[static_cast<std::size_t>(coordination.rank())]);
    EXPECT_EQ(gathered, coordination.rank() == 0 ? all : std::vector<std::vector<double>>());
  });
}

TEST(Coordination, NobodyLeavesABarrierBeforeTheLastHasCome) {
  for (const int num_ranks : {2, 3, 5, 8}) {
    for (Rank late = 0; late < num_ranks; ++late) {
      std::atomic<bool> has_come = false;
      with_coordination(num_ranks, [&](Coordination& coordination) {
        if (coordination.rank() == late) {
          std::this_thread::sleep_for(3ms);  // Who leaves early is seen more surely.
          has_come = true;
        }
        coordination.barrier();
        EXPECT_TRUE(has_come) << num_ranks << " ranks, rank " << late << " is late";
        coordination.barrier();
      });
    }
  }
}

}  // namespace
}  // namespace ringside
