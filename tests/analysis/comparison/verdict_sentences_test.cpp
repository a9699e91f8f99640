#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/comparison/verdict.hpp"
#include "tests/analysis/points.hpp"

namespace ringside {
namespace {

using examples::kKiB;
using examples::kMiB;
using examples::points;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

TEST(Sentences, APointThatWasGivenDoesNotSayHowGoodPredictionsWere) {
  std::vector<Point> given = points({{.algorithm = "naive", .predicted_ms = 2, .measured_ms = 2},
                                     {.algorithm = "ring", .predicted_ms = 1, .measured_ms = 2}});
  given[0].predicted->known = true;
  EXPECT_THAT(verdict_sentences(given),
              testing::Contains(testing::StartsWith("the prediction was off by 50 % (ring")));
}

TEST(Sentences, NothingIsSaidOfNothing) {
  EXPECT_THAT(verdict_sentences({}), IsEmpty());
  EXPECT_THAT(verdict_sentences(points({{.algorithm = "naive"}, {.algorithm = "ring"}})), IsEmpty());
}

TEST(Sentences, SayWhoWinsByHowMuchWhatWasPredictedAndWhereItTurns) {
  const auto said = verdict_sentences(points({
      {.algorithm = "naive", .bytes = 16 * kKiB, .predicted_ms = 0.10, .measured_ms = 0.10},
      {.algorithm = "ring", .bytes = 16 * kKiB, .predicted_ms = 0.20, .measured_ms = 0.20},
      {.algorithm = "naive", .bytes = 64 * kKiB, .predicted_ms = 0.40, .measured_ms = 0.40},
      {.algorithm = "ring", .bytes = 64 * kKiB, .predicted_ms = 0.20, .measured_ms = 0.20},
      {.algorithm = "naive", .bytes = 64 * kMiB, .predicted_ms = 310, .measured_ms = 290},
      {.algorithm = "ring", .bytes = 64 * kMiB, .predicted_ms = 100, .measured_ms = 100},
  }));
  EXPECT_THAT(
      said,
      ElementsAre("ring is 2.9× faster than naive at 64 MiB on 4 ranks (predicted 3.1×); below 32 KiB naive "
                  "wins",
                  "predictions were off by 0 % in the median (worst: naive at 64 MiB on 4 ranks, 7 %)"));
}

TEST(Sentences, EveryNumberOfRanksHasOne) {
  const auto said = verdict_sentences(points({
      {.algorithm = "naive", .ranks = 8, .measured_ms = 9},
      {.algorithm = "ring", .ranks = 8, .measured_ms = 1},
      {.algorithm = "naive", .ranks = 2, .measured_ms = 2},
      {.algorithm = "ring", .ranks = 2, .measured_ms = 1},
  }));
  EXPECT_THAT(said, ElementsAre("ring is 2.0× faster than naive at 1 MiB on 2 ranks",
                                "ring is 9.0× faster than naive at 1 MiB on 8 ranks"));
}

TEST(Sentences, PredictionsAloneAreCalledPredictions) {
  EXPECT_THAT(
      verdict_sentences(points({{.algorithm = "naive", .predicted_ms = 31},
                                {.algorithm = "tutorial_ring", .predicted_ms = 31},
                                {.algorithm = "ring", .predicted_ms = 10},
                                {.algorithm = "native", .predicted_ms = 5}})),
      ElementsAre(
          "ring is predicted to be 3.1× faster than naive at 1 MiB on 4 ranks",
          "the backend's own all_reduce is predicted to be 2.0× faster than the best of ours (ring) at "
          "1 MiB on 4 ranks",
          "tutorial_ring is predicted to be no faster than naive at 1 MiB on 4 ranks: its critical path "
          "moves the same bytes"));
  EXPECT_THAT(
      verdict_sentences(
          points({{.algorithm = "naive", .predicted_ms = 10}, {.algorithm = "ring", .predicted_ms = 10}})),
      ElementsAre("no difference worth having is predicted between ring and naive at 1 MiB on 4 ranks"));
}

TEST(Sentences, NearTiesAreCalledTies) {
  EXPECT_THAT(verdict_sentences(points(
                  {{.algorithm = "naive", .measured_ms = 10.4}, {.algorithm = "ring", .measured_ms = 10}})),
              ElementsAre("no difference worth having between ring and naive at 1 MiB on 4 ranks"));
  auto scattered =
      points({{.algorithm = "naive", .measured_ms = 13}, {.algorithm = "ring", .measured_ms = 10}});
  scattered[1] = examples::with_measured_interval(scattered[1], 8, 14);
  EXPECT_THAT(
      verdict_sentences(scattered),
      ElementsAre("ring and naive cannot be told apart at 1 MiB on 4 ranks: the difference is smaller than "
                  "the noise"));
}

TEST(Sentences, ATieIsComparedWithItsPrediction) {
  const auto said = [](double naive_predicted) {
    return verdict_sentences(
               points({{.algorithm = "naive", .predicted_ms = naive_predicted, .measured_ms = 10},
                       {.algorithm = "ring", .predicted_ms = 10, .measured_ms = 10}}))
        .front();
  };
  EXPECT_EQ(said(10), "no difference worth having between ring and naive at 1 MiB on 4 ranks (as predicted)");
  EXPECT_EQ(
      said(15),
      "no difference worth having between ring and naive at 1 MiB on 4 ranks (predicted: ring, by 1.5×)");
}

TEST(Sentences, AWrongPredictionOfThePairIsSaidOnce) {
  EXPECT_THAT(verdict_sentences(points({{.algorithm = "naive", .predicted_ms = 20, .measured_ms = 10},
                                        {.algorithm = "ring", .predicted_ms = 10, .measured_ms = 13}})),
              ElementsAre("naive is 1.3× faster than ring at 1 MiB on 4 ranks (predicted: ring, by 2.0×)",
                          StartsWith("predictions were off by")));
}

TEST(Sentences, WrongWinnersAtSmallerSizesAreNamedUpToThreeOfThem) {
  std::vector<Point> all = points({{.algorithm = "naive", .ranks = 2, .predicted_ms = 20, .measured_ms = 20},
                                   {.algorithm = "ring", .ranks = 2, .predicted_ms = 10, .measured_ms = 10}});
  for (int i = 0; i < 5; ++i) {
    const std::int64_t bytes = (1 + i) * kKiB;
    all.push_back(examples::point(
        {.algorithm = "naive", .ranks = 2, .bytes = bytes, .predicted_ms = 2, .measured_ms = 1}));
    all.push_back(examples::point(
        {.algorithm = "ring", .ranks = 2, .bytes = bytes, .predicted_ms = 1, .measured_ms = 1.3}));
  }
  const auto said = verdict_sentences(all);
  EXPECT_THAT(said, Contains("predicted winner at 1 KiB on 2 ranks was ring; measured: naive, by 1.3×"));
  EXPECT_THAT(said, Contains("predicted winner at 3 KiB on 2 ranks was ring; measured: naive, by 1.3×"));
  EXPECT_THAT(said, Not(Contains(HasSubstr("4 KiB on 2 ranks was"))));
  EXPECT_THAT(said, Contains("2 more predicted winners were wrong"));
}

TEST(Sentences, AWrongWinnerWithinTheScatterIsNotCountedAsAMiss) {
  auto all = points({{.algorithm = "naive", .bytes = kKiB, .predicted_ms = 2, .measured_ms = 1},
                     {.algorithm = "ring", .bytes = kKiB, .predicted_ms = 1, .measured_ms = 1.3},
                     {.algorithm = "naive", .predicted_ms = 2, .measured_ms = 2},
                     {.algorithm = "ring", .predicted_ms = 1, .measured_ms = 1}});
  EXPECT_THAT(verdict_sentences(all), Contains(StartsWith("predicted winner")));
  all[0] = examples::with_measured_interval(all[0], 0.9, 1.4);
  EXPECT_THAT(verdict_sentences(all), Not(Contains(StartsWith("predicted winner"))));
}

TEST(Sentences, WhatHappensAtSmallerSizesIsSaidWithoutExaggeration) {
  const auto said = [](const std::vector<std::pair<double, double>>& naive_and_ring) {
    std::vector<Point> all;
    std::int64_t bytes = 4 * kKiB;
    for (const auto& [naive, ring] : naive_and_ring) {
      all.push_back(examples::point({.algorithm = "naive", .bytes = bytes, .measured_ms = naive}));
      all.push_back(examples::point({.algorithm = "ring", .bytes = bytes, .measured_ms = ring}));
      bytes *= 4;
    }
    return verdict_sentences(all).front();
  };
  EXPECT_THAT(said({{2, 1}, {2, 1}}), HasSubstr("; it wins at every size from 4 KiB"));
  EXPECT_THAT(said({{1.01, 1}, {2, 1}}), HasSubstr("; from 4 KiB on it is never slower"));
  EXPECT_THAT(said({{1, 2}, {2, 1}}), HasSubstr("; below 8 KiB naive wins"));
  EXPECT_THAT(said({{1, 1.01}, {2, 1}}), HasSubstr("KiB there is no difference worth having"));
  EXPECT_THAT(said({{2, 1}, {1, 2}, {2, 1}}), HasSubstr("; it is faster from 32 KiB on"));
}

TEST(Sentences, AThirdAlgorithmThatBeatsBothIsNamed) {
  EXPECT_THAT(verdict_sentences(points({{.algorithm = "naive", .measured_ms = 30},
                                        {.algorithm = "ring", .measured_ms = 14},
                                        {.algorithm = "direct", .measured_ms = 10}})),
              ElementsAre("ring is 2.1× faster than naive at 1 MiB on 4 ranks",
                          "direct is the fastest of all at 1 MiB on 4 ranks: 1.4× faster than ring"));
  EXPECT_THAT(verdict_sentences(points({{.algorithm = "naive", .measured_ms = 30},
                                        {.algorithm = "ring", .measured_ms = 10.1},
                                        {.algorithm = "direct", .measured_ms = 10}})),
              SizeIs(1));
}

TEST(Sentences, NativeIsComparedWithTheBestOfOurs) {
  const auto said = [](double native) {
    return verdict_sentences(points({{.algorithm = "naive", .measured_ms = 30},
                                     {.algorithm = "ring", .measured_ms = 12},
                                     {.algorithm = "native", .measured_ms = native}}))
        .back();
  };
  EXPECT_EQ(said(10),
            "Gloo's own all_reduce is 1.2× faster than the best of ours (ring) at 1 MiB on 4 ranks");
  EXPECT_EQ(said(24),
            "the best of ours (ring) is 2.0× faster than Gloo's own all_reduce at 1 MiB on 4 ranks");
  EXPECT_EQ(said(12), "Gloo's own all_reduce is as fast as the best of ours (ring) at 1 MiB on 4 ranks");
}

TEST(Sentences, TutorialRingIsComparedWithNaive) {
  const auto said = [](double tutorial_ring) {
    return verdict_sentences(points({{.algorithm = "naive", .measured_ms = 30},
                                     {.algorithm = "ring", .measured_ms = 12},
                                     {.algorithm = "tutorial_ring", .measured_ms = tutorial_ring}}))
        .back();
  };
  EXPECT_EQ(
      said(30),
      "tutorial_ring is no faster than naive at 1 MiB on 4 ranks: its critical path moves the same bytes");
  EXPECT_THAT(said(60), StartsWith("tutorial_ring is 2.0× slower than naive at 1 MiB on 4 ranks"));
  EXPECT_THAT(said(20), StartsWith("tutorial_ring is 1.5× faster than naive at 1 MiB on 4 ranks"));
}

TEST(Sentences, OneAlgorithmAloneIsTimed) {
  EXPECT_THAT(verdict_sentences(points({{.algorithm = "ring", .predicted_ms = 10, .measured_ms = 12},
                                        {.algorithm = "native", .measured_ms = 6}})),
              ElementsAre("ring takes 12 ms at 1 MiB on 4 ranks (predicted 10 ms)",
                          "Gloo's own all_reduce is 2.0× faster than ring at 1 MiB on 4 ranks",
                          "the prediction was off by 17 % (ring at 1 MiB on 4 ranks)"));
  EXPECT_THAT(verdict_sentences(points({{.algorithm = "native", .measured_ms = 6}})),
              ElementsAre("native takes 6 ms at 1 MiB on 4 ranks"));
  EXPECT_THAT(verdict_sentences(points({{.algorithm = "ring", .predicted_ms = 6}})),
              ElementsAre("ring is predicted to take 6 ms at 1 MiB on 4 ranks"));
}

TEST(Sentences, OneRankAloneHasNothingToCompare) {
  EXPECT_THAT(
      verdict_sentences(points({{.algorithm = "naive", .ranks = 1, .predicted_ms = 0, .measured_ms = 1},
                                {.algorithm = "ring", .ranks = 1, .predicted_ms = 0, .measured_ms = 1}})),
      ElementsAre(HasSubstr("nothing to compare")));
}

TEST(Sentences, FailuresAreNamedWithTheirReason) {
  std::vector<Point> all;
  for (const char* algorithm : {"naive", "ring"}) {
    all.push_back(
        examples::without_time(examples::point({.algorithm = algorithm}), Outcome::failed, "rank 2 died"));
  }
  EXPECT_THAT(verdict_sentences(all), ElementsAre("naive failed at 1 MiB on 4 ranks: rank 2 died",
                                                  "ring failed at 1 MiB on 4 ranks: rank 2 died"));
  all[0].measured->outcome = Outcome::wrong_result;
  all[1].measured->outcome = Outcome::unsupported;
  all[1].measured->note.clear();
  EXPECT_THAT(verdict_sentences(all),
              ElementsAre("naive gave a wrong result at 1 MiB on 4 ranks: rank 2 died",
                          "ring cannot be measured here at 1 MiB on 4 ranks"));
}

TEST(Sentences, RanksThatShareGpusSayNothingAboutLinks) {
  std::vector<Point> all = points({{.algorithm = "naive", .measured_ms = 2}});
  EXPECT_THAT(verdict_sentences(all), Not(Contains(HasSubstr("shared GPUs"))));
  all[0].measured->shared_gpu = true;
  EXPECT_THAT(verdict_sentences(all), Contains("ranks shared GPUs: no time says anything about links"));
}

TEST(Sentences, TheLargestSizeThatWasMeasuredDecides) {
  auto all = points({{.algorithm = "naive", .bytes = kMiB, .predicted_ms = 4, .measured_ms = 4},
                     {.algorithm = "ring", .bytes = kMiB, .predicted_ms = 2, .measured_ms = 2},
                     {.algorithm = "naive", .bytes = 4 * kMiB, .predicted_ms = 16, .measured_ms = 16},
                     {.algorithm = "ring", .bytes = 4 * kMiB, .predicted_ms = 4}});
  all[3] = examples::without_time(all[3], Outcome::failed);
  EXPECT_THAT(verdict_sentences(all).front(),
              StartsWith("ring is 2.0× faster than naive at 1 MiB on 4 ranks"));
}

TEST(Sentences, TheQualityOfThePredictionsIsSaidWithTheWorst) {
  auto all = points({{.algorithm = "naive", .bytes = 4 * kKiB, .predicted_ms = 1.41, .measured_ms = 1},
                     {.algorithm = "ring", .bytes = 4 * kKiB, .predicted_ms = 1.12, .measured_ms = 1},
                     {.algorithm = "ring", .bytes = kMiB, .predicted_ms = 1.05, .measured_ms = 1}});
  EXPECT_EQ(verdict_sentences(all).back(),
            "predictions were off by 12 % in the median (worst: naive at 4 KiB on 4 ranks, 41 %)");
  all[0] = examples::with_predicted_interval(all[0], 0.9, 2);
  all[1] = examples::with_predicted_interval(all[1], 1.1, 2);
  EXPECT_THAT(verdict_sentences(all).back(),
              HasSubstr("; 50 % of the measured times lie in their predicted 90 % interval"));
  for (Point& wide : all) {
    wide = examples::with_predicted_interval(wide, 0.1, 9);
  }
  EXPECT_THAT(verdict_sentences(all).back(),
              HasSubstr("; their 90 % intervals span a factor of 90 and say nothing"));
}

TEST(Sentences, WhatLimitsIsSaidOnceWhenItIsTheSame) {
  auto all = points({{.algorithm = "naive", .predicted_ms = 4}, {.algorithm = "ring", .predicted_ms = 2}});
  all[0].predicted->limits = {
      {.link_kind = LinkKind::host_bridge, .link = "the host bridge", .flows = 8, .crossings = 8},
      {.kind = Limit::Kind::model, .text = "host memory"}};
  all[1].predicted->limits = all[0].predicted->limits;
  EXPECT_EQ(verdict_sentences(all).back(),
            "limit of naive and ring at 1 MiB on 4 ranks: 8 flows share the host bridge; host memory");
  all[0].predicted->limits = {{.kind = Limit::Kind::model, .text = "the root's link"}};
  EXPECT_THAT(verdict_sentences(all), Contains("limit of naive at 1 MiB on 4 ranks: the root's link"));
  EXPECT_THAT(verdict_sentences(all), Contains(StartsWith("limit of ring at 1 MiB on 4 ranks: 8 flows")));
}

/// NCCL's own, predicted from a machine's description, beside `ring` from the same description.
std::vector<Point> spec_points(double ring_ms) {
  auto all =
      points({{.algorithm = "ring", .predicted_ms = ring_ms}, {.algorithm = "native", .predicted_ms = 40}});
  for (Point& point : all) {
    point.predicted->source = CostSource::spec;
  }
  all[1].predicted->fidelity = Fidelity::nccl;
  all[1] = examples::with_predicted_interval(all[1], 20, 300);
  return all;
}

TEST(Sentences, NcclsOwnIsNotRankedAgainstWhatIsNotFittedToIt) {
  const auto not_ranked = StartsWith("do not compare native with the others: ");
  EXPECT_THAT(verdict_sentences(spec_points(74)), Contains(not_ranked));
  EXPECT_THAT(verdict_sentences(spec_points(74)), Not(Contains(HasSubstr("faster"))));
  auto gloo = spec_points(74);
  gloo[1].predicted->fidelity = Fidelity::flow;
  EXPECT_THAT(verdict_sentences(gloo), Not(Contains(not_ranked)));
}

TEST(Sentences, APredictedFactorHasItsInterval) {
  auto both = points({{.algorithm = "naive", .predicted_ms = 30}, {.algorithm = "ring", .predicted_ms = 10}});
  both[0] = examples::with_predicted_interval(both[0], 24, 60);
  both[1] = examples::with_predicted_interval(both[1], 8, 15);
  for (Point& point : both) {
    point.predicted->source = CostSource::spec;  // Both are at the same end of what the links may do.
  }
  EXPECT_THAT(verdict_sentences(both).front(),
              "ring is predicted to be 3.0× faster than naive at 1 MiB on 4 ranks (90 %: 3.0 to 4.0)");
  for (Point& point : both) {
    point.predicted->source = CostSource::calibrated;  // Medians scatter each for itself.
  }
  EXPECT_THAT(verdict_sentences(both).front(),
              "ring is predicted to be 3.0× faster than naive at 1 MiB on 4 ranks (90 %: 1.9 to 6.2)");
  both[0] = examples::with_predicted_interval(both[0], 9, 60);
  EXPECT_THAT(verdict_sentences(both).front(),
              "ring and naive cannot be told apart at 1 MiB on 4 ranks: ring is predicted to be 3.0× faster "
              "(90 %: 0.84 to 6.2)");
}

TEST(Sentences, NameWhoLeavesNicsIdle) {
  auto all = points({{.algorithm = "naive", .predicted_ms = 90},
                     {.algorithm = "ring", .predicted_ms = 50},
                     {.algorithm = "hierarchical", .predicted_ms = 10}});
  EXPECT_THAT(verdict_sentences(all), Not(Contains(HasSubstr("NIC"))));
  all[0].predicted->nics = NicUse{.used = 1, .of = 4};
  all[1].predicted->nics = NicUse{.used = 1, .of = 4};
  all[2].predicted->nics = NicUse{.used = 4, .of = 4};
  EXPECT_THAT(verdict_sentences(all), Contains("naive, ring use 1 of the 4 NICs of a node"));
  auto beside =
      points({{.algorithm = "ring", .predicted_ms = 50}, {.algorithm = "native", .predicted_ms = 9}});
  beside[0].predicted->nics = NicUse{.used = 1, .of = 4};
  beside[1].predicted->nics = NicUse{.used = 4, .of = 4};
  EXPECT_THAT(
      verdict_sentences(beside),
      Contains(
          "ring uses 1 of the 4 NICs of a node, native all 4: NCCL runs several rings or trees at once that "
          "leave a node through different NICs"));
  beside[0].predicted->nics = NicUse{.used = 1, .of = 1};
  beside[1].predicted->nics = NicUse{.used = 1, .of = 1};
  EXPECT_THAT(verdict_sentences(beside), Not(Contains(HasSubstr("NIC"))));
}

TEST(Sentences, AreSingleLinesWithoutAFullStop) {
  const auto said = verdict_sentences(points({{.algorithm = "naive", .predicted_ms = 4, .measured_ms = 3},
                                              {.algorithm = "ring", .predicted_ms = 2, .measured_ms = 2},
                                              {.algorithm = "native", .measured_ms = 1}}));
  EXPECT_THAT(said, Each(testing::AllOf(Not(HasSubstr("\n")), Not(testing::EndsWith(".")))));
}

}  // namespace
}  // namespace ringside
