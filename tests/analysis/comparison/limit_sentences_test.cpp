#include <vector>

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

}  // namespace
}  // namespace ringside
