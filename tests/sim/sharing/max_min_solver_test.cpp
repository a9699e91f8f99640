#include "sim/sharing/max_min_solver.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The example of the header: a of 10 and b of 4, x₁ on a, x₂ on both, x₃ on b.
class TwoConstraints : public testing::Test {
 protected:
  TwoConstraints() {
    solver_.define(0, 10, std::vector{kA});
    solver_.define(1, 4, std::vector{kA, kB});
    solver_.define(2, 4, std::vector{kB});
  }
  void enter_all() {
    for (const int variable : {0, 1, 2}) {
      solver_.enter(variable);
    }
    solver_.solve();
  }

  MaxMinSolver solver_;
  const MaxMinSolver::Id kA = solver_.add_constraint(10);
  const MaxMinSolver::Id kB = solver_.add_constraint(4);
};

TEST_F(TwoConstraints, FillsTheSmallestShareFirst) {
  enter_all();
  EXPECT_EQ(solver_.value(0), 8);
  EXPECT_EQ(solver_.value(1), 2);
  EXPECT_EQ(solver_.value(2), 2);
  EXPECT_TRUE(solver_.binding(kA));
  EXPECT_TRUE(solver_.binding(kB));
  EXPECT_THAT(solver_.decided(), ElementsAre(0, 1, 2));
}

TEST_F(TwoConstraints, WhatLeavesIsSharedByTheOthers) {
  enter_all();
  solver_.leave(2);
  solver_.solve();
  EXPECT_EQ(solver_.value(0), 6);
  EXPECT_EQ(solver_.value(1), 4);
  solver_.leave(0);
  solver_.solve();
  EXPECT_EQ(solver_.value(1), 4) << "b holds it back, alone as it is";
  EXPECT_FALSE(solver_.binding(kB));
}

TEST_F(TwoConstraints, OnlyWhatMayHaveChangedIsDecidedAgain) {
  enter_all();
  solver_.solve();
  EXPECT_THAT(solver_.decided(), IsEmpty());
  const MaxMinSolver::Id elsewhere = solver_.add_constraint(1);
  solver_.define(3, 1, std::vector{elsewhere});
  solver_.enter(3);
  solver_.solve();
  EXPECT_THAT(solver_.decided(), ElementsAre(3));
}

TEST(MaxMinSolver, AConstraintThatIsNamedTwiceCountsTwice) {
  MaxMinSolver solver;
  const MaxMinSolver::Id memory = solver.add_constraint(6);
  solver.define(0, 3, std::vector{memory, memory});
  solver.define(1, 6, std::vector{memory});
  solver.enter(0);
  solver.enter(1);
  solver.solve();
  EXPECT_EQ(solver.value(0), 2);
  EXPECT_EQ(solver.value(1), 2);
  EXPECT_EQ(solver.num_variables(memory), 2);
  EXPECT_EQ(solver.total_weight(memory), 3);
}

TEST(MaxMinSolver, AVariableThatIsDefinedAgainForgetsItsConstraints) {
  MaxMinSolver solver;
  const MaxMinSolver::Id narrow = solver.add_constraint(1);
  const MaxMinSolver::Id wide = solver.add_constraint(6);
  solver.define(0, 5, std::vector{narrow});
  solver.define(0, 4, std::vector{wide});
  solver.enter(0);
  solver.solve();
  EXPECT_EQ(solver.value(0), 4);
  EXPECT_EQ(solver.num_variables(narrow), 0);
}

TEST(MaxMinSolver, WithoutConstraintsOrWithInfiniteOnesTheValueIsThatOfOneAlone) {
  MaxMinSolver solver;
  const MaxMinSolver::Id endless = solver.add_constraint(std::numeric_limits<double>::infinity());
  solver.define(0, 5, {});
  solver.define(1, 7, std::vector{endless});
  solver.enter(0);
  solver.enter(1);
  solver.solve();
  EXPECT_EQ(solver.value(0), 5);
  EXPECT_EQ(solver.value(1), 7);
  EXPECT_FALSE(solver.binding(endless));
}

}  // namespace
}  // namespace ringside
