#include "results/record.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "common/error.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::full_point;
using examples::gpu_point;
using examples::message_of;
using testing::HasSubstr;
using testing::Not;

// The same cases on every run; RC_PARAMS in the environment chooses others.
const int kRecordsSeeded = ::setenv("RC_PARAMS", "seed=20260301 max_success=300", 0);

Point reread(const Point& point) { return std::get<Point>(parse_record(to_line(point)).value()); }

rc::Gen<double> any_time() {
  // Fractions of very different magnitude, every bit of the mantissa in use.
  return rc::gen::map(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 53), rc::gen::inRange(-80, 4)),
      [](const std::pair<std::int64_t, int>& parts) {
        return std::ldexp(static_cast<double>(parts.first), parts.second - 53);
      });
}

template <typename E>
rc::Gen<E> any_of_names() {
  std::vector<E> values;
  for (const std::string& name : names_of<E>()) {
    values.push_back(*parse_name<E>(name));
  }
  return rc::gen::elementOf(values);
}

rc::Gen<std::string> any_text() {
  return rc::gen::element<std::string>("", "plain", "quote \" backslash \\", "line\nbreak\ttab",
                                       "α β γ, 2 × 8", std::string("zero\0inside", 11), "\x7f\x01");
}

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

RC_GTEST_PROP(Record, EveryPointReadsBackToTheLastBit, ()) {
  Point point;
  point.key = {.collective = *any_of_names<Collective>(),
               .algorithm = *rc::gen::element<std::string>("ring", "naive", "native"),
               .ranks = *rc::gen::inRange(1, 65536),
               .bytes = {*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62)},
               .dtype = *any_of_names<DataType>(),
               .op = *any_of_names<ReduceOp>()};
  if (*rc::gen::arbitrary<bool>()) {
    Prediction& predicted = point.predicted.emplace();
    predicted.seconds = {*any_time()};
    if (*rc::gen::arbitrary<bool>()) {
      predicted.low = Seconds{*any_time()};
      predicted.high = Seconds{*any_time()};
    }
    predicted.fidelity = *any_of_names<Fidelity>();
    predicted.source = *rc::gen::element(CostSource::spec, CostSource::calibrated, CostSource::given,
                                         CostSource::spec_plus_known);
    predicted.limits = *rc::gen::container<std::vector<std::string>>(any_text());
    if (*rc::gen::arbitrary<bool>()) {
      predicted.nics = NicUse{.used = *rc::gen::inRange(0, 64), .of = *rc::gen::inRange(1, 64)};
    }
  }
  if (*rc::gen::arbitrary<bool>()) {
    Measurement& measured = point.measured.emplace();
    measured.outcome = *any_of_names<Outcome>();
    measured.backend = *any_of_names<Backend>();
    measured.note = *any_text();
    if (measured.outcome == Outcome::ok) {
      measured.seconds = {*any_time()};
      measured.low = {*any_time()};
      measured.high = {*any_time()};
      measured.min = {*any_time()};
      measured.p95 = {*any_time()};
      measured.samples = *rc::gen::container<std::vector<double>>(any_time());
      measured.iterations = static_cast<int>(measured.samples.size());
      measured.passes = *rc::gen::container<std::vector<double>>(any_time());
    }
  }

  const Point back = reread(point);

  RC_ASSERT(back.key == point.key);
  RC_ASSERT(back.predicted.has_value() == point.predicted.has_value());
  if (point.predicted) {
    RC_ASSERT(back.predicted->seconds == point.predicted->seconds);
    RC_ASSERT(back.predicted->low == point.predicted->low);
    RC_ASSERT(back.predicted->high == point.predicted->high);
    RC_ASSERT(back.predicted->fidelity == point.predicted->fidelity);
    RC_ASSERT(back.predicted->source == point.predicted->source);
    RC_ASSERT(back.predicted->limits == point.predicted->limits);
    RC_ASSERT(back.predicted->nics == point.predicted->nics);
  }
  RC_ASSERT(back.measured.has_value() == point.measured.has_value());
  if (point.measured) {
    RC_ASSERT(back.measured->outcome == point.measured->outcome);
    RC_ASSERT(back.measured->backend == point.measured->backend);
    RC_ASSERT(back.measured->note == point.measured->note);
    RC_ASSERT(back.measured->seconds == point.measured->seconds);
    RC_ASSERT(back.measured->low == point.measured->low);
    RC_ASSERT(back.measured->high == point.measured->high);
    RC_ASSERT(back.measured->min == point.measured->min);
    RC_ASSERT(back.measured->p95 == point.measured->p95);
    RC_ASSERT(back.measured->iterations == point.measured->iterations);
    RC_ASSERT(back.measured->samples == point.measured->samples);
    RC_ASSERT(back.measured->passes == point.measured->passes);
  }
}

TEST(Record, APointIsWrittenWithTheNamesOfTheFormat) {
  EXPECT_EQ(
      to_line(full_point()),
      R"({"record":"point","collective":"all_reduce","algorithm":"ring","ranks":4,"bytes":1048576,)"
      R"("dtype":"float32","op":"sum","predicted":{"seconds":0.1,"low":0.05,"high":0.2,"fidelity":"flow",)"
      R"("source":"spec+known","limits":["8 flows share the host bridge of socket 0"],"nics":{"used":1,"of":8}},)"
      R"("measured":{"seconds":0.12,"low":0.11,"high":0.13,"min":0.1,"p95":0.2,"iterations":3,)"
      R"("samples":[0.1,0.12,0.2],"passes":[0.1,0.16],"backend":"gloo","outcome":"ok","note":"clock was busy"}})");
  EXPECT_THAT(to_line(gpu_point()), HasSubstr(R"("launch":"cuda_graph","host_seconds":0.0001,)"
                                              R"("oversubscribed":true,"backend":"nccl")"));
}

TEST(Record, HowCallsGotOntoAGpuComesBack) {
  Point point = gpu_point();
  point.measured->launch = DeviceLaunch{.graph = false, .host_seconds = {0.25}};
  const Point back = reread(point);
  ASSERT_TRUE(back.measured->launch.has_value());
  EXPECT_FALSE(back.measured->launch->graph);
  EXPECT_EQ(back.measured->launch->host_seconds, Seconds{0.25});
  EXPECT_TRUE(back.measured->oversubscribed);
  point.measured->launch.reset();
  point.measured->oversubscribed = false;
  EXPECT_FALSE(reread(point).measured->launch.has_value());
  EXPECT_FALSE(reread(point).measured->oversubscribed);
}

TEST(Record, WhatIsAbsentIsLeftOut) {
  Point point = full_point();
  point.predicted->low.reset();
  point.predicted->high.reset();
  point.predicted->limits.clear();
  point.predicted->nics.reset();
  point.measured.emplace().seconds = {0.1};
  const std::string line = to_line(point);
  for (const char* field : {"low", "high", "limits", "nics", "min", "p95", "iterations", "samples", "passes",
                            "note", "launch", "oversubscribed"}) {
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
    EXPECT_EQ(measured.size(), 3U) << measured;
    EXPECT_EQ(measured["note"], "clock was busy");
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
