#include "results/codec/record.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::full_point;
using examples::gpu_point;
using examples::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Point reread(const Point& point) { return std::get<Point>(parse_record(to_line(point)).value()); }

TEST(Record, EveryKindReadsBackAsItWasWritten) {
  for (const Record& record : examples::full_records()) {
    const std::string line = to_line(record);
    const std::optional<Record> back = parse_record(line);
    ASSERT_TRUE(back.has_value()) << line;
    EXPECT_EQ(back->index(), record.index());
    EXPECT_EQ(to_line(*back), line);
    EXPECT_THAT(line, Not(HasSubstr("\n")));
  }
}

TEST(Record, APointIsWrittenWithTheNamesOfTheFormat) {
  EXPECT_EQ(
      to_line(full_point()),
      R"({"record":"point","collective":"all_reduce","algorithm":"ring","ranks":4,"bytes":1048576,)"
      R"("dtype":"float32","op":"sum","predicted":{"seconds":0.1,"low":0.05,"high":0.2,"fidelity":"flow",)"
      R"("source":"spec+known","policy":{"receives_ahead":false,"segments":2,"stride":2,"in_flight":2,"order":[1,0,3,2]},)"
      R"("limits":[{"kind":"shared_link","link_kind":"host_bridge","link":"node 1: host bridge of socket 0",)"
      R"("node":1,"flows":8,"crossings":16,"others":true}],"known":true,"nics":{"used":1,"of":8}},)"
      R"("measured":{"seconds":0.12,"low":0.11,"high":0.13,"min":0.1,"p95":0.2,"iterations":3,)"
      R"("samples":[0.1,0.12,0.2],"repetitions":[0.1,0.16],"machine_tuning":{"bound_to_cores":true,)"
      R"("idle_states_prevented":false,"thread_priority":true,"batch_scheduling":false},"backend":"gloo",)"
      R"("policy":{"receives_ahead":true,"segments":11,"stride":4,"in_flight":3,"order":[3,2,1,0]},"outcome":"ok","note":"clock was busy"}})");
  EXPECT_THAT(to_line(gpu_point()),
              HasSubstr(R"("launch":"cuda_graph","host_seconds":0.0001,"shared_gpu":true,)"));
}

TEST(Record, ALimitOfOneOfAnythingIsWritten) {
  Point point = full_point();
  point.predicted->limits = {
      {.kind = Limit::Kind::shared_cores, .flows = 1, .crossings = 1, .ranks = 1, .cores = 1, .factor = 1}};
  EXPECT_THAT(
      to_line(point),
      HasSubstr(
          R"("limits":[{"kind":"shared_cores","flows":1,"crossings":1,"ranks":1,"cores":1,"factor":1)"));
}

TEST(Record, HowCallsGotOntoAGpuComesBack) {
  Point point = gpu_point();
  point.measured->launch = DeviceLaunch{.mode = LaunchMode::stream, .host_seconds = {0.25}};
  const Point back = reread(point);
  ASSERT_TRUE(back.measured->launch.has_value());
  EXPECT_EQ(back.measured->launch->mode, LaunchMode::stream);
  EXPECT_EQ(back.measured->launch->host_seconds, Seconds{0.25});
  EXPECT_TRUE(back.measured->shared_gpu);
  point.measured->launch.reset();
  point.measured->shared_gpu = false;
  EXPECT_FALSE(reread(point).measured->launch.has_value());
  EXPECT_FALSE(reread(point).measured->shared_gpu);
}

TEST(Record, PoliciesReadBackAsTheyWereWritten) {
  const Point point = full_point();
  const Point back = reread(point);
  EXPECT_EQ(back.predicted->policy, point.predicted->policy);
  EXPECT_EQ(back.measured->policy, point.measured->policy);
}

TEST(Record, WhatIsAbsentIsLeftOut) {
  Point point = full_point();
  point.predicted->low.reset();
  point.predicted->high.reset();
  point.predicted->limits.clear();
  point.predicted->nics.reset();
  point.predicted->known = false;
  point.predicted->policy.reset();
  point.measured.emplace().seconds = {0.1};
  const std::string line = to_line(point);
  for (const char* field :
       {"low", "high", "limits", "nics", "min", "p95", "iterations", "samples", "repetitions", "known",
        "note", "launch", "shared_gpu", "policy", "machine_tuning"}) {
    EXPECT_THAT(line, Not(HasSubstr('"' + std::string(field) + '"')));
  }
  EXPECT_THAT(line, Not(HasSubstr("null")));
  point.predicted.reset();
  point.measured.reset();
  EXPECT_THAT(to_line(point), Not(HasSubstr("seconds")));
  EXPECT_THAT(to_line(Verdict{.baseline = "naive", .candidate = "ring"}), Not(HasSubstr("speedup")));
}

TEST(Record, AMeasurementThatIsNotOkHasNoTimes) {
  Point point = full_point();
  for (const Outcome outcome : {Outcome::failed, Outcome::wrong_result, Outcome::unsupported}) {
    point.measured->outcome = outcome;
    const auto measured = nlohmann::json::parse(to_line(point))["measured"];
    EXPECT_EQ(measured.size(), 4U) << measured;
    EXPECT_EQ(measured["note"], "clock was busy");
    EXPECT_EQ(measured["policy"]["segments"], 11);
    EXPECT_EQ(reread(point).measured->seconds, Seconds{});
  }
}

TEST(Record, ATimeThatIsNotFiniteIsABug) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Point point = full_point();
    point.predicted->seconds = {value};
    EXPECT_THROW(to_line(point), Bug);
    point = full_point();
    point.measured->samples[1] = value;
    EXPECT_THROW(to_line(point), Bug);
    EXPECT_THROW(to_line(Accuracy{.points = 1, .mape = value}), Bug);
  }
}

TEST(Record, NoBytesOfANoteCostTheResult) {
  Point point = full_point();
  point.measured->note = "not UTF-8: \xff\xfe";
  EXPECT_THAT(reread(point).measured->note, HasSubstr("not UTF-8"));
}

TEST(Record, UnknownKindsAndFieldsAreSkippedAndNullIsAbsent) {
  EXPECT_EQ(parse_record(R"({"record":"novelty","price":1})"), std::nullopt);
  auto json = nlohmann::json::parse(to_line(full_point()));
  json["later"] = {1, 2, 3};
  json["measured"]["later"] = "x";
  json["measured"]["low"] = nullptr;
  json["predicted"] = nullptr;
  json["ranks"] = 4.0;  // as tools write it that keep all numbers as doubles
  const Point point = std::get<Point>(*parse_record(json.dump()));
  EXPECT_EQ(point.key, full_point().key);
  EXPECT_FALSE(point.predicted.has_value());
  EXPECT_EQ(point.measured->low, Seconds{});
  EXPECT_EQ(point.measured->high, full_point().measured->high);
}

struct Spoiled {
  const char* pointer;   ///< The field.
  nlohmann::json value;  ///< Null takes the field away.
  std::vector<std::string> said;
};

TEST(Record, AWrongFieldIsNamedWithWhatItHolds) {
  const std::vector<Spoiled> cases = {
      {"/record", nullptr, {"record is missing"}},
      {"/record", 3, {"record", "3", "text"}},
      {"/ranks", nullptr, {"ranks is missing"}},
      {"/ranks", 0, {"ranks is 0", "from 1 on"}},
      {"/ranks", 2.5, {"ranks is 2.5", "whole number"}},
      {"/ranks", 1e300, {"ranks is 1e+300"}},
      {"/ranks", 3000000000, {"ranks is 3000000000"}},
      {"/ranks", "4", {"ranks is \"4\"", "number"}},
      {"/bytes", -1, {"bytes is -1"}},
      {"/bytes", 18446744073709551615ULL, {"bytes is 18446744073709551615"}},
      {"/collective", "allreduce", {"unknown collective 'allreduce'", "did you mean 'all_reduce'"}},
      {"/dtype", "float", {"unknown dtype 'float'"}},
      {"/algorithm", nullptr, {"algorithm is missing"}},
      {"/predicted", 3, {"predicted is not a JSON object"}},
      {"/predicted/seconds", nullptr, {"predicted.seconds is missing"}},
      {"/predicted/seconds", -0.5, {"predicted.seconds is -0.5", "negative"}},
      {"/predicted/fidelity", "exact", {"unknown predicted.fidelity 'exact'", "closed_form"}},
      {"/predicted/source", "guess", {"unknown predicted.source 'guess'", "spec+known"}},
      {"/predicted/limits", "one", {"predicted.limits must be a list"}},
      {"/measured/outcome", "OK", {"unknown measured.outcome 'OK'", "unsupported"}},
      {"/measured/seconds", "fast", {"measured.seconds is \"fast\""}},
      {"/measured/samples", {0.1, "x"}, {"measured.samples is \"x\""}},
      {"/measured/iterations", -3, {"measured.iterations is -3"}},
  };
  for (const Spoiled& spoiled : cases) {
    auto json = nlohmann::json::parse(to_line(full_point()));
    json[nlohmann::json::json_pointer(spoiled.pointer)] = spoiled.value;
    const std::string line = json.dump();
    const std::string said = message_of(ErrorKind::bad_input, [&] { parse_record(line); });
    for (const std::string& word : spoiled.said) {
      EXPECT_THAT(said, HasSubstr(word)) << line;
    }
  }
}

TEST(Record, WhatIsNotARecordIsSaid) {
  const auto said = [](std::string_view line) {
    return message_of(ErrorKind::bad_input, [&] { parse_record(line); });
  };
  EXPECT_THAT(said("{\"record\":"), HasSubstr("not JSON"));
  EXPECT_THAT(said(""), HasSubstr("not JSON"));
  EXPECT_THAT(said("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(said("{}"), HasSubstr("record is missing"));
  EXPECT_THAT(said("\xff"), HasSubstr("not JSON"));
  EXPECT_THAT(said(R"({"record":"point","ranks":1e999})"), HasSubstr("no double"));
}

TEST(Record, NoRecordStaysJsonWhenItsEndIsCutOff) {
  for (const Record& record : examples::full_records()) {
    const std::string line = to_line(record);
    EXPECT_TRUE(is_json(line));
    for (std::size_t length = 0; length < line.size(); ++length) {
      ASSERT_FALSE(is_json(std::string_view(line).substr(0, length)));
    }
  }
}

TEST(Record, AHeaderOfAnotherSchemaIsRefusedBeforeAnythingElse) {
  EXPECT_THAT(
      message_of(ErrorKind::bad_input, [] { parse_record(R"({"record":"run","schema":"ringside/2"})"); }),
      testing::AllOf(HasSubstr("'ringside/2'"), HasSubstr("'ringside/1'")));
}

TEST(Record, AHeaderCanDoWithoutMachineHostAndSeed) {
  RunHeader header = examples::header();
  header.machine.reset();
  header.host.clear();
  const auto back = std::get<RunHeader>(*parse_record(to_line(header)));
  EXPECT_FALSE(back.machine.has_value());
  EXPECT_TRUE(back.host.empty());
  EXPECT_EQ(back.scenario.text, header.scenario.text);
  EXPECT_EQ(back.seed, 7U);
}

TEST(Record, ATimestampIsIso8601InUtc) {
  EXPECT_EQ(timestamp(std::chrono::system_clock::from_time_t(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(timestamp(std::chrono::system_clock::from_time_t(1772368496)), "2026-03-01T12:34:56Z");
}

}  // namespace
}  // namespace ringside
