#include "cli/reports/check_report.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/comparison/comparison.hpp"
#include "cli/console.hpp"
#include "cli/reports/check_tables.hpp"
#include "cli/reports/report.hpp"
#include "common/text.hpp"
#include "plots/charts/charts.hpp"

namespace ringside::cli {
namespace {

using nlohmann::ordered_json;

ordered_json record_of(const SuspectedCause& cause) {
  return {{"cause", std::string(name(cause.cause))},
          {"probability", cause.probability},
          {"bandwidth_ratio", cause.ratio},
          {"evidence", cause.evidence},
          {"command", std::string(telling_command(cause.cause))}};
}

ordered_json record_of(const std::optional<NicShare>& share) {
  return share ? ordered_json{{"nics", share->nics},           {"bytes", share->bytes.value},
                              {"bus_bandwidth", share->busbw}, {"per_nic", share->as_ring},
                              {"line_rate", share->line_rate}, {"tree_factor", share->tree_factor}}
               : ordered_json();
}

ordered_json record_of(const study::LogCheck& check) {
  ordered_json causes = ordered_json::array();
  for (const SuspectedCause& cause : check.check.causes) {
    causes.push_back(record_of(cause));
  }
  return {{"record", "check"},
          {"log", check.log},
          {"machine", check.machine.name},
          {"recognised", check.recognised},
          {"assumptions", check.assumptions},
          {"collective", check.check.points.empty()
                             ? std::string()
                             : std::string(name(check.check.points.front().key.collective))},
          {"ranks", check.check.points.empty() ? 0 : check.check.points.front().key.ranks},
          {"alarm", check.check.alarmed()},
          {"wrong_results", check.wrong_results},
          {"failures", check.failures},
          {"incomplete", check.incomplete},
          {"bands", bands_of(check.check.bands)},
          {"nics", record_of(check.check.nics)},
          {"baseline", check.beside_baseline ? bands_of(check.beside_baseline->bands) : ordered_json()},
          {"causes", causes},
          {"held_back", check.check.held_back ? record_of(*check.check.held_back) : ordered_json()}};
}

void print_bands(const MachineCheck& check, std::string_view others) {
  if (!check.bands.empty()) {
    print_table(bands_table(check, others));
  }
}

}  // namespace

ordered_json bands_of(const std::vector<BandVerdict>& verdicts) {
  ordered_json bands = ordered_json::array();
  for (const BandVerdict& band : verdicts) {
    bands.push_back({{"band", std::string(name(band.band))},
                     {"points", band.points},
                     {"bytes", band.bytes.value},
                     {"bus_bandwidth", band.measured},
                     {"expected", {band.expected.low, band.expected.typical, band.expected.high}},
                     {"bandwidth_ratio", band.ratio},
                     {"share_as_slow", band.share_as_slow},
                     {"verdict", std::string(name(band.standing))}});
  }
  return bands;
}

void print_live_row(const Point& point) {
  const Prediction& predicted = *point.predicted;
  const double measured = point.measured->seconds.value;
  const std::string_view where = measured > predicted.high->value  ? "slower"
                                 : measured < predicted.low->value ? "faster"
                                                                   : "as expected";
  print_line("{:>8}  {:>10}  {:8.2f} GB/s  expected {:.2f} to {:.2f}: {}", format(point.key.bytes),
             format(point.measured->seconds), gigabytes(point.key, point.measured->seconds),
             gigabytes(point.key, *predicted.high), gigabytes(point.key, *predicted.low), where);
}

void print_check(const study::LogCheck& check, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_record(record_of(check));
    return;
  }
  print_lines(check_start(check));
  print_bands(check.check, "such machines");
  if (check.beside_baseline) {
    print_line("\nbeside its baseline:");
    print_bands(*check.beside_baseline, "its runs");
  }
  print_lines(check_end(check));
}

std::string folder_of(const study::LogCheck& check) {
  return check.log == "standard input" ? "check" : std::filesystem::path(check.log).stem().string();
}

void draw_check(const study::LogCheck& check, const CommonOptions& common) {
  const plots::ChartContext context = {.title = "Your log beside such machines",
                                       .machine = check.machine.name,
                                       .source = check.log,
                                       .output_directory = study::output_directory(common, folder_of(check)),
                                       .size = common.chart_size};
  Progress progress(common.quiet);
  draw_charts(plots::bus_bandwidth(check.check.points, context), context, common, progress);
}

void print_own_probes(const std::vector<Point>& points, Backend backend, const CommonOptions& common) {
  Rows rows;
  for (const Point& point : points) {
    const bool measured = point.measured && point.measured->outcome == Outcome::ok;
    const bool predicted = point.predicted && point.predicted->low && point.predicted->high;
    const double seconds = measured ? point.measured->seconds.value : 0;
    const std::string_view standing = !measured || !predicted                  ? kAbsent
                                      : seconds > point.predicted->high->value ? "slower"
                                      : seconds < point.predicted->low->value  ? "faster"
                                                                               : "as its probes say";
    const std::string expected =
        predicted ? fmt::format("{} to {}", format(*point.predicted->low), format(*point.predicted->high))
                  : std::string(kAbsent);
    if (common.format == OutputFormat::json) {
      print_record({{"record", "live"},
                    {"backend", std::string(name(backend))},
                    {"algorithm", point.key.algorithm},
                    {"ranks", point.key.ranks},
                    {"bytes", point.key.bytes.value},
                    {"seconds", measured ? ordered_json(seconds) : ordered_json()},
                    {"low", predicted ? ordered_json(point.predicted->low->value) : ordered_json()},
                    {"high", predicted ? ordered_json(point.predicted->high->value) : ordered_json()},
                    {"population", false},
                    {"verdict", std::string(standing)}});
    }
    rows.push_back({point.key.algorithm, format(point.key.bytes),
                    measured ? format(point.measured->seconds) : std::string(kAbsent), expected,
                    std::string(standing)});
  }
  if (common.format == OutputFormat::json) {
    return;
  }
  print_line(
      "Without NCCL there are no published machines to compare with (`ringside doctor` "
      "says what is missing).\nall_reduce of {} ranks over {}, beside what this machine's own probes expect:",
      points.empty() ? 0 : points.front().key.ranks, name(backend));
  print_table({{"algorithm", ">size", ">measured", ">expected", "verdict"}, rows});
}

bool print_gate(const Gate& gate, const std::vector<study::LogCheck>& checks, const CommonOptions& common) {
  bool passed = !checks.empty();
  for (const study::LogCheck& check : checks) {
    const GateOutcome outcome = apply_gate(gate, check.check);
    const bool right = outcome.passed && check.wrong_results == 0;
    passed = passed && right;
    if (common.format == OutputFormat::json) {
      print_record({{"record", "gate"},
                    {"log", check.log},
                    {"gate", gate.text},
                    {"passed", right},
                    {"measured", outcome.measured},
                    {"bound", outcome.bound}});
    } else {
      const auto shown = [&](double value) {
        return gate.of_time ? format(Seconds{value}) : fmt::format("{:.2f} GB/s", value);
      };
      print_line("{}: {} at {}, the bound is {}: {}", check.log, shown(outcome.measured), format(gate.bytes),
                 shown(outcome.bound), right ? "passed" : "failed");
    }
  }
  return passed;
}

}  // namespace ringside::cli
