#include "results/codec/record.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "results/codec/field_table.hpp"
#include "results/probe_sample.hpp"
#include "results/trace_event.hpp"
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

/// `key!` where it is required, `key>=1` where it has a smallest value, `key?` where it depends on others.
template <typename T>
std::string rows_of() {
  const FieldTable<T>& table = field_table<T>();
  std::string rows = table.record == nullptr ? "-" : table.record;
  for (const Field<T>& field : table.fields) {
    rows += " " + std::string(field.key) + (field.required ? "!" : "") + (field.applies ? "?" : "") +
            (field.minimum ? ">=" + std::to_string(*field.minimum) : "");
  }
  return rows;
}

TEST(Record, FieldsAreRequiredAndLimitedAsTheFormatSays) {
  EXPECT_EQ(rows_of<PointKey>(), "- collective! algorithm! ranks!>=1 bytes! dtype! op!");
  EXPECT_EQ(rows_of<NicUse>(), "- used! of!>=1");
  EXPECT_EQ(rows_of<ExecutionPolicy>(), "- receives_ahead segments!>=1 stride>=1 in_flight>=1 order");
  EXPECT_EQ(rows_of<Limit>(), "- kind! link_kind link node flows crossings others ranks cores factor text");
  EXPECT_EQ(rows_of<Prediction>(),
            "- seconds! low high fidelity! source! policy limits known nics rank_classes no_classes");
  EXPECT_EQ(rows_of<DeviceLaunch>(), "- launch! host_seconds!");
  EXPECT_EQ(rows_of<MachineTuning>(),
            "- bound_to_cores idle_states_prevented thread_priority batch_scheduling");
  EXPECT_EQ(rows_of<Measurement>(),
            "- seconds!? low? high? min? p95? iterations? samples?>=0 repetitions?>=0 launch? host_seconds!? "
            "shared_gpu? sockets?>=0 machine_tuning? backend! policy outcome! note");
  EXPECT_EQ(rows_of<Point>(),
            "point collective! algorithm! ranks!>=1 bytes! dtype! op! predicted measured series>=1");
  EXPECT_EQ(rows_of<ProbeKey>(), "- kind! ranks!>=1 bytes! messages! first! second!");
  EXPECT_EQ(rows_of<ProbeSample>(), "- kind! ranks!>=1 bytes! messages! first! second! seconds!");
  EXPECT_EQ(rows_of<TraceEvent>(),
            "- rank! source! target! round! start! end! kind! first_chunk! num_chunks! bytes!");
  EXPECT_EQ(rows_of<ScenarioRecord>(), "- name! file text");
  EXPECT_EQ(rows_of<MachineRecord>(), "- name! this_machine yaml!");
  EXPECT_EQ(rows_of<RunHeader>(), "run schema! version! command! scenario! machine host started! seed");
  EXPECT_EQ(rows_of<RepetitionRecord>(),
            "repetition collective! algorithm! ranks!>=1 bytes! dtype! op! measured!");
  EXPECT_EQ(rows_of<Verdict>(),
            "verdict ranks!>=1 bytes! baseline! candidate! predicted_speedup measured_speedup "
            "predicted_winner measured_winner");
  EXPECT_EQ(rows_of<Crossover>(),
            "crossover ranks!>=1 baseline! candidate! predicted_bytes measured_bytes predicted_crossings "
            "measured_crossings predicted_winner measured_winner");
  EXPECT_EQ(rows_of<Accuracy>(),
            "accuracy algorithm system statistic systems class band model fold points! mape! factor "
            "median_abs_error! bias! coverage width winner_agreement");
  EXPECT_EQ(rows_of<OfferRecord>(),
            "offer name! source! gpus! per_hour currency problem algorithm nics batch step compute "
            "communication ring naive exposed waiting efficiency samples_per_second run cost memory "
            "gpu_memory sharding micro_batch>=1 largest_batch>=1 tokens_per_second pareto recommended "
            "bandwidth_factor_for_5_percent bandwidth_factor_for_10_percent gpus_stop_paying>=1 "
            "ring_from_bytes ring_from_gpus>=1 best_way assumptions warnings");
}

/// What a whole number may be written as.
template <typename N>
std::string read_as(const std::string& text, Minimum minimum = {}) {
  const Json json = Json::parse(text);
  try {
    return std::to_string(Codec<N>::read(JsonPlace(json), minimum));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Record, WholeNumbersAreTakenUpToTheEndsOfTheirTypes) {
  const auto refused = [](const std::string& text, const std::string& least = "0") {
    return "it is " + text + ", it must be a whole number from " + least + " on";
  };
  EXPECT_EQ(read_as<std::int32_t>("2147483647"), "2147483647");
  EXPECT_EQ(read_as<std::int32_t>("2147483648"), refused("2147483648"));
  EXPECT_EQ(read_as<std::int32_t>("2147483647.0"), "2147483647");
  EXPECT_EQ(read_as<std::int32_t>("2147483648.0"), refused("2147483648.0"));
  EXPECT_EQ(read_as<std::int32_t>("0.0"), "0");
  EXPECT_EQ(read_as<std::int32_t>("-1.0"), refused("-1.0"));
  EXPECT_EQ(read_as<std::int32_t>("0.5"), refused("0.5"));
  EXPECT_EQ(read_as<std::int32_t>("-1"), refused("-1"));
  EXPECT_EQ(read_as<std::int32_t>("-1", -1), "-1");
  EXPECT_EQ(read_as<std::int32_t>("-2", -1), refused("-2", "-1"));
  EXPECT_EQ(read_as<std::int32_t>("-2147483649", -1), refused("-2147483649", "-1"));
  EXPECT_EQ(read_as<std::int32_t>("3", 3), "3");
  EXPECT_EQ(read_as<std::int32_t>("2", 3), refused("2", "3"));
  EXPECT_EQ(read_as<std::int32_t>("2.0", 3), refused("2.0", "3"));
  EXPECT_EQ(read_as<std::int32_t>("\"3\""), "it is \"3\", it must be a number");
  EXPECT_EQ(read_as<std::int64_t>("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(read_as<std::int64_t>("9223372036854775808"), refused("9223372036854775808"));
  EXPECT_EQ(read_as<std::int64_t>("9.2e18"), "9200000000000000000");
  EXPECT_EQ(read_as<std::int64_t>("9223372036854775808.0"), refused("9.223372036854776e+18"));
  EXPECT_EQ(read_as<std::uint64_t>("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(read_as<std::uint64_t>("1.8e19"), "18000000000000000000");
  EXPECT_EQ(read_as<std::uint64_t>("18446744073709551616.0"), refused("1.8446744073709552e+19"));
  EXPECT_EQ(read_as<double>("-2.5"), "-2.500000");
  EXPECT_EQ(read_as<double>("2.5", 3), "it is 2.5, it must be a number from 3 on");
  EXPECT_EQ(read_as<double>("3", 3), "3.000000");
  EXPECT_EQ(read_as<double>("true"), "it is true, it must be a number");
  EXPECT_EQ(read_as<bool>("false"), "0");
  EXPECT_EQ(read_as<bool>("1"), "it is 1, it must be true or false");
}

TEST(Record, EveryProblemNamesTheWholePathToItsPlace) {
  const auto said = [](const std::string& path, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(to_line(full_point()));
    json[nlohmann::json::json_pointer(path)] = value;
    const std::string line = json.dump();
    return message_of(ErrorKind::bad_input, [&] { parse_record(line); });
  };
  EXPECT_EQ(said("/predicted/policy/order/1", -2),
            "predicted.policy.order is -2, it must be a whole number from 0 on");
  EXPECT_EQ(said("/predicted/limits/0/flows", true), "predicted.limits.flows is true, it must be a number");
  EXPECT_EQ(said("/predicted/limits/0", 3), "predicted.limits is not a JSON object");
  EXPECT_EQ(said("/predicted/seconds", -0.5), "predicted.seconds is -0.5, a time cannot be negative");
  EXPECT_EQ(said("/measured/samples", {-1.0}), "measured.samples is -1.0, it must be a number from 0 on");
  EXPECT_EQ(said("/measured/note", {{"µ", 1}}), R"(measured.note is {"µ":1}, it must be a text)");
  EXPECT_EQ(said("/predicted/seconds", 0.0), "") << "a time of nothing";
  EXPECT_EQ(said("/predicted/known", "yes"), "predicted.known is \"yes\", it must be true or false");
  EXPECT_EQ(said("/measured/machine_tuning", {1}), "measured.machine_tuning is not a JSON object");
  EXPECT_EQ(said("/series", 0), "series is 0, it must be a whole number from 1 on");
  EXPECT_EQ(said("/measured/outcome", nullptr), "measured.outcome is missing");
  RunHeader header = examples::header();
  auto json = nlohmann::json::parse(to_line(header));
  json["host"] = {"a", "b"};
  EXPECT_EQ(message_of(ErrorKind::bad_input, [&] { parse_record(json.dump()); }),
            "host is not a JSON object");
  json["host"] = {{"cpu", 3}, {"none", nullptr}};
  EXPECT_EQ(message_of(ErrorKind::bad_input, [&] { parse_record(json.dump()); }),
            "host.cpu is 3, it must be a text");
  json["host"]["cpu"] = "x";
  EXPECT_EQ(std::get<RunHeader>(*parse_record(json.dump())).host,
            (std::map<std::string, std::string>{{"cpu", "x"}}));
  EXPECT_EQ(message_of(ErrorKind::bad_input, [] { parse_record("{\"record\":x"); }),
            "is not JSON (at byte 11)");
  EXPECT_EQ(message_of(ErrorKind::bad_input, [] { parse_record("[1e999]"); }),
            "holds a number that no double can hold");
  EXPECT_EQ(message_of(ErrorKind::bad_input, [] { parse_record("3"); }), "it is not a JSON object");
}

TEST(Record, WhatOnlySomePointsHaveComesBack) {
  Point point = gpu_point();
  point.series = 1;
  point.predicted->rank_classes = 0;
  point.predicted->no_classes = "ranks differ";
  point.predicted->policy->receives_ahead = true;
  point.measured->sockets = {0, 1, 1};
  point.measured->machine_tuning->batch_scheduling = true;
  const Point back = reread(point);
  EXPECT_EQ(to_line(back), to_line(point));
  EXPECT_EQ(back.series, 1);
  EXPECT_EQ(back.predicted->rank_classes, 0);
  EXPECT_EQ(back.predicted->no_classes, "ranks differ");
  EXPECT_EQ(back.measured->sockets, point.measured->sockets);
  EXPECT_EQ(back.measured->machine_tuning, point.measured->machine_tuning);
  EXPECT_EQ(to_line(Point{.key = examples::key("ring", 1, 0)}),
            R"({"record":"point","collective":"all_reduce","algorithm":"ring","ranks":1,"bytes":0,)"
            R"("dtype":"float32","op":"sum"})");
  const std::string quoted = "a\"b\\c\x1F\x7F ~µ\u202e";
  point.measured->note = quoted;
  EXPECT_THAT(to_line(point), HasSubstr("\"note\":\"a\\\"b\\\\c\\u001f\x7F ~µ\\u202e\""));
  EXPECT_EQ(reread(point).measured->note, quoted);
}

TEST(Record, ATimestampIsIso8601InUtc) {
  EXPECT_EQ(timestamp(std::chrono::system_clock::from_time_t(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(timestamp(std::chrono::system_clock::from_time_t(1772368496)), "2026-03-01T12:34:56Z");
}

}  // namespace
}  // namespace ringside
