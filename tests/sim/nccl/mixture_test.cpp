#include "sim/nccl/mixture.hpp"

#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario.hpp"
#include "sim/nccl/native.hpp"

namespace ringside {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kGi = kKi * kKi * kKi;

/// Eight cards that nothing but host memory joins, by NCCL's rule.
Machine host_memory_node() {
  return parse_machine(
      "gpus_per_node: 8\ngpu: {model: L40S}\ncpu: {vendor: intel}\n"
      "intra: {kind: pcie, generation: 4, lanes: 16}\nsoftware: {nccl: 2.27.3}\n",
      "test");
}

/// Two cards of which the description leaves open how they meet.
Machine open_pair() {
  return parse_machine(
      "gpus_per_node: 2\ngpu: {model: L40S}\nintra: {kind: pcie, generation: 4, lanes: 16}\n", "test");
}

Prediction predicted(const Machine& where, int ranks, std::int64_t bytes) {
  const PointKey key = {.algorithm = "native", .ranks = ranks, .bytes = {bytes}};
  return std::get<Prediction>(predict_nccl_native(where, key, NativeModel::ringside));
}

std::string why(const Prediction& prediction) {
  std::string text;
  for (const Limit& limit : prediction.limits) {
    text += limit.text + "\n";
  }
  return text;
}

Machine told(Machine where, int ranks, double factor) {
  const double seconds = factor * predicted(where, ranks, kGi).seconds.value;
  where.known.push_back({.algorithm = "native",
                         .ranks = ranks,
                         .bytes = Bytes{kGi},
                         .seconds = Seconds{seconds},
                         .bandwidth = {},
                         .latency = {}});
  return where;
}

TEST(NcclMixture, ABoxThroughHostMemoryIsOneOfTwoKinds) {
  EXPECT_THAT(
      why(predicted(host_memory_node(), 8, kGi)),
      AllOf(
          HasSubstr(
              "most likely (57 %) it goes through fast host memory and takes as predicted for long messages"),
          HasSubstr("two in five such hosts go through slow host memory and take 3.4 times")));
}

TEST(NcclMixture, AnOpenTransportIsOneKindMore) {
  EXPECT_THAT(why(predicted(open_pair(), 2, kGi)),
              AllOf(HasSubstr("most likely (50 %) it copies from GPU to GPU"),
                    HasSubstr("one in five such hosts goes through slow host memory and takes"),
                    HasSubstr("one in four such hosts goes through fast host memory")));
}

TEST(NcclMixture, SmallMessagesDoNotTellBoxesApart) {
  EXPECT_THAT(why(predicted(host_memory_node(), 8, kKi)), Not(HasSubstr("most likely")));
}

TEST(NcclMixture, OneKnownValueCollapsesIt) {
  const auto of = [](double factor) {
    return why(predicted(told(host_memory_node(), 8, factor), 8, kGi / 4));
  };
  EXPECT_THAT(of(4),
              AllOf(HasSubstr("this host goes through slow host memory"), Not(HasSubstr("most likely"))));
  EXPECT_THAT(of(0.9), HasSubstr("this host goes through fast host memory"));
}

TEST(NcclMixture, WhatIsSettledHasOneKind) {
  Machine stated = open_pair();
  stated.intra->peer_to_peer = true;
  EXPECT_THAT(why(predicted(stated, 2, kGi)), Not(HasSubstr("most likely")));
  EXPECT_THAT(mixture_sentence({{.one = "copies", .many = "copy", .share = 1}}), IsEmpty());
}

}  // namespace
}  // namespace ringside
