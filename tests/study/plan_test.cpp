#include "study/plan/plan.hpp"

#include <gmock/gmock.h>

#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::string_view kPlan =
    "name: two offers\n"
    "workload:\n"
    "  parameters: 20000000\n"
    "  batch_per_gpu: 100\n"
    "  samples: 1000000\n"
    "  compute: {measured: [{gpu: any, samples_per_second: 2500}]}\n"
    "synchronisation: {style: one_bucket}\n"
    "algorithm: ring\n"
    "offers:\n"
    "  - {name: eight, machine: {gpus_per_node: 8, intra: {kind: custom, latency: 10 us, bandwidth: 10 "
    "GB/s}}, "
    "price: {per_hour: 6 USD}}\n"
    "  - {name: one, machine: {gpus_per_node: 1, intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}}, "
    "price: {per_hour: 1 USD}}\n";

TEST(PlanStudy, CurvesOnlyWhereTheyAreAskedFor) {
  Workspace workspace;
  const std::filesystem::path file = workspace.write("plan.yaml", kPlan);
  const PlanStudy with = plan({.plan = file}, workspace.invocation(), workspace.observer());
  EXPECT_THAT(with.shown, SizeIs(2));
  EXPECT_THAT(with.scaling, SizeIs(1)) << "one GPU has no scaling";
  ASSERT_THAT(with.bandwidth, Not(IsEmpty()));
  const auto& points = with.bandwidth.front().points;
  ASSERT_THAT(points, Not(IsEmpty()));
  EXPECT_NEAR(points.front().first, 1e9, 1);
  EXPECT_NEAR(points.back().first, 1e12, 1e3);
  EXPECT_GT(points.front().second, points.back().second) << "slower links hide less";
  EXPECT_THAT(with.explanations, Not(IsEmpty()));
  EXPECT_TRUE(std::filesystem::exists(with.file));
  EXPECT_TRUE(with.drawn);
  const PlanStudy without =
      plan({.plan = file, .curves = false}, workspace.invocation(), workspace.observer());
  EXPECT_THAT(without.scaling, IsEmpty());
  EXPECT_THAT(without.bandwidth, IsEmpty());
}

TEST(PlanStudy, AnOfferOfTheWholeMachineGrowsWithItAndThatOfAPartDoesNot) {
  Workspace workspace;
  const std::string start(kPlan.substr(0, kPlan.find("offers:")));
  const auto best = [&](const std::string& gpus) {
    const std::string offer = "offers:\n  - {name: four, " + gpus +
                              "machine: {gpus_per_node: 4, intra: {kind: custom, latency: 10 us, bandwidth: "
                              "10 GB/s}}, price: {per_hour: 4 USD}}\n";
    return sweep_plan({"gpus_per_node=4,8"}, {.plan = workspace.write("plan.yaml", start + offer)},
                      workspace.observer())
        .rows.at(1)
        .best;
  };
  EXPECT_EQ(best("").gpus, 8);
  EXPECT_EQ(best("").per_hour, 8);
  EXPECT_EQ(best("gpus: 2, ").gpus, 2);
  EXPECT_EQ(best("gpus: 2, ").per_hour, 4);
}

TEST(PlanStudy, ASweepHasARowPerCombination) {
  Workspace workspace;
  const PlanSweep sweep =
      sweep_plan({"accumulate=1:4:2x"}, {.plan = workspace.write("plan.yaml", kPlan)}, workspace.observer());
  ASSERT_THAT(sweep.rows, SizeIs(3));
  EXPECT_EQ(sweep.rows[2].values.front(), "4");
  EXPECT_TRUE(sweep.rows[2].best.step);
}

Offer offer_for(double amount, const std::string& currency) {
  return {
      .name = "offer", .machine = {}, .gpus = 1, .per_hour = Money{.amount = amount, .currency = currency}};
}

TEST(Currencies, PricesAreBroughtToThatOfMostOffersOrOfTheBudget) {
  Plan plan;
  plan.exchange_rates = {{.of = {.amount = 1, .currency = "EUR"}, .is = {.amount = 1.5, .currency = "USD"}}};
  std::vector<Offer> offers = {offer_for(2, "USD"), offer_for(3, "EUR"), offer_for(4, "USD"),
                               offer_for(5, "GBP"), offer_for(6, "JPY")};
  offers[4].problem = "it is gone";
  std::vector<Offer> brought = offers;
  bring_to_one_currency(plan, brought);
  EXPECT_EQ(brought[0].per_hour, offers[0].per_hour);
  EXPECT_THAT(brought[0].assumptions, IsEmpty());
  EXPECT_EQ(brought[1].per_hour, (Money{.amount = 4.5, .currency = "USD"}));
  EXPECT_THAT(brought[1].assumptions,
              Contains("Its price, 3 EUR an hour, is 4.5 USD at the stated exchange rate."));
  EXPECT_EQ(brought[3].per_hour, offers[3].per_hour);
  EXPECT_EQ(brought[3].problem,
            "its price is in GBP, and others are in USD; --exchange '1 GBP = … USD' says a rate");
  EXPECT_EQ(brought[4].problem, "it is gone");
  plan.budget = Money{.amount = 100, .currency = "EUR"};
  brought = offers;
  bring_to_one_currency(plan, brought);
  EXPECT_EQ(brought[1].per_hour, offers[1].per_hour);
  EXPECT_NEAR(brought[0].per_hour->amount, 2 / 1.5, 1e-12);
  EXPECT_THAT(brought[3].problem, HasSubstr("and the budget is in EUR"));
}

TEST(Currencies, ARateThatNoPriceNeedsIsRefused) {
  Plan plan;
  plan.offers = {offer_for(2, "USD")};
  plan.exchange_rates = {{.of = {.amount = 1, .currency = "EUR"}, .is = {.amount = 1.5, .currency = "USD"}}};
  EXPECT_THROW(require_used_rates(plan), Error);
  plan.budget = Money{.amount = 100, .currency = "EUR"};
  EXPECT_NO_THROW(require_used_rates(plan));
  plan.budget.reset();
  plan.offers.push_back(offer_for(3, "EUR"));
  EXPECT_NO_THROW(require_used_rates(plan));
}

}  // namespace
}  // namespace ringside::study
