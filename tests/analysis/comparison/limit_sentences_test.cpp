#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/comparison/point_sentences.hpp"

namespace ringside {
namespace {

TEST(LimitSentences, SayWhatIsSharedAndHowOften) {
  Limit limit = {.link_kind = LinkKind::staging, .link = "staging of GPU 0", .flows = 2, .crossings = 2};
  EXPECT_EQ(limit_sentence(limit), "2 flows share staging of GPU 0");
  limit.crossings = 3;
  EXPECT_EQ(limit_sentence(limit), "2 flows share staging of GPU 0 (3 crossings)");
  limit.others = true;
  EXPECT_EQ(limit_sentence(limit),
            "2 flows share staging of GPU 0 (3 crossings); other links of this kind are shared alike");
}

TEST(LimitSentences, EveryKindHasOne) {
  const std::vector<Limit> limits = {{.kind = Limit::Kind::shared_cores, .ranks = 4, .cores = 2},
                                     {.kind = Limit::Kind::contention, .factor = 1.84},
                                     {.kind = Limit::Kind::model, .text = "latency decides"}};
  EXPECT_EQ(limit_sentences(limits),
            "4 ranks share 2 CPU cores; probes show that simultaneous messages "
            "take 1.8× as long as one alone; latency decides");
  EXPECT_EQ(limit_sentences({}), "");
}

TEST(ClassSentences, SayHowManyRanksAreSimulatedAsHowManyClassesOrWhyAllAre) {
  Point point{.key = {.algorithm = "ring", .ranks = 1024, .bytes = {4096}}, .predicted = Prediction{}};
  point.predicted->rank_classes = 1;
  Point smaller = point;
  smaller.key.ranks = 512;
  Point whole = point;
  whole.key.algorithm = "naive";
  whole.predicted->rank_classes.reset();
  whole.predicted->no_classes = "no two are alike";
  EXPECT_THAT(class_sentences(std::vector<Point>{smaller, whole, point}),
              testing::ElementsAre("ring: 1024 ranks simulated as 1 class, alike in what they do and when",
                                   "naive: all 1024 ranks were simulated, since no two are alike"));
  point.predicted->limits = {{.link_kind = LinkKind::staging, .link = "staging of GPU 0", .flows = 2}};
  EXPECT_THAT(class_sentences(std::vector<Point>{point}),
              testing::ElementsAre(testing::EndsWith("; the busiest link: 2 flows share staging of GPU 0")));
}

}  // namespace
}  // namespace ringside
