#include "results/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::ElementsAre;

Measurement of(std::vector<double> samples, double median) {
  Measurement measurement;
  measurement.seconds = {median};
  measurement.iterations = static_cast<int>(samples.size());
  measurement.samples = std::move(samples);
  return measurement;
}

TEST(Measurement, PassesAreTakenTogether) {
  const Measurement both = with_repetition(of({1, 2, 3}, 2), of({11, 12, 13, 14}, 12.5));
  EXPECT_EQ(both.iterations, 7);
  EXPECT_THAT(both.samples, ElementsAre(1, 2, 3, 11, 12, 13, 14));
  EXPECT_THAT(both.repetitions, ElementsAre(2, 12.5));
  EXPECT_EQ(both.seconds.value, 11);
  EXPECT_LE(both.low.value, 2);
  EXPECT_GE(both.high.value, 12.5);

  // Many samples alike, and one pass of a single one on either side.
  const Measurement steady = of(std::vector<double>(50, 5), 5);
  EXPECT_EQ(with_repetition(steady, of({1}, 1)).low.value, 1);
  EXPECT_EQ(with_repetition(steady, of({9}, 9)).high.value, 9);

  const Measurement three = with_repetition(both, of({30}, 30));
  EXPECT_THAT(three.repetitions, ElementsAre(2, 12.5, 30));
  EXPECT_GE(three.high.value, 30);
}

TEST(Measurement, AFailedPassIsTheOutcome) {
  Measurement failed;
  failed.outcome = Outcome::wrong_result;
  failed.note = "rank 1";
  EXPECT_EQ(with_repetition(of({1}, 1), failed).outcome, Outcome::wrong_result);
  EXPECT_EQ(with_repetition(failed, of({1}, 1)).note, "rank 1");
}

}  // namespace
}  // namespace ringside
