#include "cli/reports/check_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/comparison/comparison.hpp"
#include "cli/console.hpp"
#include "cli/reports/report.hpp"
#include "common/numbers.hpp"
#include "plots/charts/charts.hpp"

namespace ringside::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kShownCauses = 3;

std::string_view sizes_of(SizeBand band) {
  constexpr std::array<std::string_view, kNumSizeBands> kSizes = {"up to 64 KiB", "up to 16 MiB", "above"};
  return kSizes.at(static_cast<std::size_t>(band));
}

std::string times(double ratio) { return fmt::format("{:.2f}×", ratio); }

std::string verdict_of(const BandVerdict& band, std::string_view others) {
  switch (band.standing) {
    case Standing::slower:
      return fmt::format("slower than {} of {}, by {}", percent(1 - band.share_as_slow, 1), others,
                         times(band.ratio));
    case Standing::faster:
      return fmt::format("faster than expected, by {}: is the description right?", times(1 / band.ratio));
    case Standing::healthy:
      break;
  }
  return "healthy";
}

bool is_cause(const SuspectedCause& suspected) { return suspected.cause != Cause::none; }

std::vector<SuspectedCause> shown_causes(const MachineCheck& check) {
  std::vector<SuspectedCause> causes;
  std::copy_if(check.causes.begin(), check.causes.end(), std::back_inserter(causes), is_cause);
  causes.resize(std::min(causes.size(), kShownCauses));
  return causes;
}

double gigabytes(const Point& point, Seconds time) {
  const auto rate = bus_bandwidth(point.key.collective, point.key.ranks, point.key.bytes, time);
  return rate ? rate->value * 1e-9 : 0;
}

ordered_json bands_of(const MachineCheck& check) {
  ordered_json bands = ordered_json::array();
  for (const BandVerdict& band : check.bands) {
    bands.push_back({{"band", std::string(name(band.band))},
                     {"points", band.points},
                     {"ratio", band.ratio},
                     {"share_as_slow", band.share_as_slow},
                     {"verdict", std::string(name(band.standing))}});
  }
  return bands;
}

ordered_json record_of(const study::LogCheck& check) {
  ordered_json causes = ordered_json::array();
  for (const SuspectedCause& cause : check.check.causes) {
    causes.push_back({{"cause", std::string(name(cause.cause))},
                      {"probability", cause.probability},
                      {"slowdown", cause.slowdown},
                      {"evidence", cause.evidence},
                      {"command", std::string(telling_command(cause.cause))}});
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
          {"bands", bands_of(check.check)},
          {"baseline", check.beside_baseline ? bands_of(*check.beside_baseline) : ordered_json()},
          {"causes", causes}};
}

void print_record(const ordered_json& record) {
  print_line(record.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void print_causes(const MachineCheck& check) {
  print_line("\nLikely causes, most likely first:");
  int number = 0;
  for (const SuspectedCause& suspected : shown_causes(check)) {
    const std::string slowdown = suspected.cause == Cause::something_else
                                     ? ""
                                     : fmt::format(", which would take {}", times(suspected.slowdown));
    print_line(fmt::format("{}. {} ({}{})", ++number, sentence(suspected.cause),
                           percent(suspected.probability), slowdown));
    for (const std::string& evidence : suspected.evidence) {
      print_line("   " + evidence);
    }
    if (const std::string_view command = telling_command(suspected.cause); !command.empty()) {
      print_line(fmt::format("   to tell: {}", command));
    }
  }
}

void print_bands(const MachineCheck& check, std::string_view others) {
  std::vector<std::vector<std::string>> rows;
  for (const BandVerdict& band : check.bands) {
    rows.push_back({std::string(sizes_of(band.band)), std::to_string(band.points), times(band.ratio),
                    percent(band.share_as_slow, 1), verdict_of(band, others)});
  }
  print(table({"sizes", ">rows", ">measured/predicted", ">as slow", "verdict"}, rows));
}

}  // namespace

void print_live_row(const Point& point) {
  const Prediction& predicted = *point.predicted;
  const double measured = point.measured->seconds.value;
  const std::string_view where = measured > predicted.high->value  ? "slower"
                                 : measured < predicted.low->value ? "faster"
                                                                   : "as expected";
  print_line(fmt::format("{:>8}  {:>10}  {:8.2f} GB/s  expected {:.2f} to {:.2f}: {}",
                         format(point.key.bytes), format(point.measured->seconds),
                         gigabytes(point, point.measured->seconds), gigabytes(point, *predicted.high),
                         gigabytes(point, *predicted.low), where));
}

void print_check(const study::LogCheck& check, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_record(record_of(check));
    return;
  }
  if (!check.check.points.empty()) {
    const PointKey& key = check.check.points.front().key;
    print_line(fmt::format("{}: {} sizes of {} on {} ranks of {}{}", check.log, check.check.points.size(),
                           name(key.collective), key.ranks, check.machine.name,
                           check.recognised ? ", as the log says" : ""));
  }
  for (const std::string& assumption : check.assumptions) {
    print_line(assumption);
  }
  for (const std::string& note : check.notes) {
    print_line(note);
  }
  if (check.wrong_results > 0) {
    print_line(fmt::format("{} rows had wrong results, whatever their speed", check.wrong_results));
  }
  print_bands(check.check, "such machines");
  if (check.beside_baseline) {
    print_line("\nbeside its baseline:");
    print_bands(*check.beside_baseline, "its runs");
  }
  if (check.check.alarmed()) {
    print_causes(check.check);
    return;
  }
  for (const CauseEvidence& evidence : check.evidence) {
    if (evidence.speaks_for) {
      print_line(fmt::format("Not slow, but {}: {}. To tell: {}", evidence.sentence, sentence(evidence.cause),
                             telling_command(evidence.cause)));
    }
  }
}

void draw_check(const study::LogCheck& check, const CommonOptions& common) {
  const std::string stem =
      check.log == "standard input" ? "check" : std::filesystem::path(check.log).stem().string();
  const plots::ChartContext context = {.title = "Measured, on what such machines reach",
                                       .machine = check.machine.name,
                                       .source = check.log,
                                       .output_directory = study::output_directory(common, stem)};
  Progress progress(common.quiet);
  draw_charts(plots::bus_bandwidth(check.check.points, context), context, common, progress);
}

void print_checks(const std::vector<study::LogCheck>& checks, const std::vector<std::string>& problems,
                  const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    for (const study::LogCheck& check : checks) {
      print_record(record_of(check));
    }
    for (const std::string& problem : problems) {
      print_record({{"record", "check"}, {"problem", problem}});
    }
    return;
  }
  std::vector<std::vector<std::string>> rows;
  std::size_t alarms = 0;
  for (const study::LogCheck& check : checks) {
    std::vector<std::string> row = {check.log, check.machine.name, "", "", "", ""};
    for (const BandVerdict& band : check.check.bands) {
      const std::string_view mark = band.standing == Standing::healthy  ? ""
                                    : band.standing == Standing::slower ? " !"
                                                                        : " ?";
      row.at(2U + static_cast<std::size_t>(band.band)) = fmt::format("{}{}", times(band.ratio), mark);
    }
    const auto causes = shown_causes(check.check);
    row.back() = check.wrong_results > 0 ? "wrong results"
                 : causes.empty()        ? ""
                                         : std::string(sentence(causes.front().cause));
    alarms += check.check.alarmed() ? 1U : 0U;
    rows.push_back(std::move(row));
  }
  print(table({"log", "machine", ">up to 64 KiB", ">up to 16 MiB", ">above", "most likely cause"}, rows));
  print_line(fmt::format(
      "\nmeasured/predicted time; ! slower than such machines are, ? faster. {} of {} slow, {} not "
      "checked",
      alarms, checks.size(), problems.size()));
  for (const std::string& problem : problems) {
    print_line("not checked: " + problem);
  }
}

void draw_checks(const std::vector<study::LogCheck>& checks, const CommonOptions& common) {
  // More rows cannot be read; the slowest are what one looks for.
  constexpr std::size_t kMostRows = 60;
  std::vector<const study::LogCheck*> shown;
  for (const study::LogCheck& check : checks) {
    shown.push_back(&check);
  }
  const auto worst = [](const study::LogCheck* check) {
    double ratio = 0;
    for (const BandVerdict& band : check->check.bands) {
      ratio = std::max(ratio, band.ratio);
    }
    return ratio;
  };
  if (shown.size() > kMostRows) {
    std::stable_sort(shown.begin(), shown.end(),
                     [&](const auto* a, const auto* b) { return worst(a) > worst(b); });
    shown.resize(kMostRows);
  }
  plots::LabelledMatrix matrix;
  matrix.name = "check_map";
  matrix.subtitle = "measured over predicted time, median of each band of sizes";
  matrix.row_title = "log";
  matrix.column_title = "sizes";
  matrix.value_title = "measured / predicted";
  matrix.columns = {"up to 64 KiB", "up to 16 MiB", "above"};
  for (const study::LogCheck* check : shown) {
    matrix.rows.push_back(std::filesystem::path(check->log).stem().string());
    matrix.values.emplace_back(matrix.columns.size(), std::numeric_limits<double>::quiet_NaN());
    for (const BandVerdict& band : check->check.bands) {
      matrix.values.back()[static_cast<std::size_t>(band.band)] = band.ratio;
    }
  }
  if (matrix.rows.empty()) {
    return;
  }
  const plots::ChartContext context = {.title = "Machines beside what such machines reach",
                                       .machine = "",
                                       .source = common.command_line.substr(0, 80),
                                       .output_directory = study::output_directory(common, "check")};
  Progress progress(common.quiet);
  draw_charts(plots::heat_map(matrix, context), context, common, progress);
}

bool print_gate(const Gate& gate, const std::string& text, const std::vector<study::LogCheck>& checks,
                const CommonOptions& common) {
  bool passed = !checks.empty();
  for (const study::LogCheck& check : checks) {
    const GateOutcome outcome = apply_gate(gate, check.check);
    const bool right = outcome.passed && check.wrong_results == 0;
    passed = passed && right;
    if (common.format == OutputFormat::json) {
      print_record({{"record", "gate"},
                    {"log", check.log},
                    {"gate", text},
                    {"passed", right},
                    {"measured", outcome.measured},
                    {"bound", outcome.bound}});
    } else {
      const auto shown = [&](double value) {
        return gate.of_time ? format(Seconds{value}) : fmt::format("{:.2f} GB/s", value);
      };
      print_line(fmt::format("{}: {} at {}, the bound is {}: {}", check.log, shown(outcome.measured),
                             format(gate.bytes), shown(outcome.bound), right ? "passed" : "failed"));
    }
  }
  return passed;
}

void print_false_alarms(const FalseAlarms& alarms, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    for (const CheckedSystem& system : alarms.systems) {
      print_record({{"record", "checked_system"},
                    {"system", system.name},
                    {"group", system.group},
                    {"kind", std::string(name(system.kind))},
                    {"healthy", system.healthy},
                    {"alarm", system.alarmed},
                    {"too_fast", system.too_fast}});
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const CheckedSystem& system : alarms.systems) {
    if (system.alarmed && system.healthy) {
      rows.push_back({system.name, std::string(name(system.kind)), system.group});
    }
  }
  std::vector<std::vector<std::string>> injected;
  for (const InjectedCause& cause : alarms.injected) {
    const auto share = [](int part, int whole) {
      return whole == 0 ? std::string(kAbsent) : percent(static_cast<double>(part) / whole);
    };
    injected.push_back({std::string(name(cause.cause)), std::to_string(cause.machines),
                        share(cause.alarmed, cause.machines), share(cause.among_first_two, cause.alarmed),
                        std::to_string(cause.below_spread), share(cause.alarmed_below, cause.below_spread)});
    if (common.format == OutputFormat::json) {
      print_record({{"record", "injected_cause"},
                    {"cause", std::string(name(cause.cause))},
                    {"machines", cause.machines},
                    {"alarmed", cause.alarmed},
                    {"among_first_two", cause.among_first_two},
                    {"below_spread", cause.below_spread},
                    {"alarmed_below", cause.alarmed_below}});
    }
  }
  if (common.format == OutputFormat::json) {
    return;
  }
  const auto healthy = std::count_if(alarms.systems.begin(), alarms.systems.end(),
                                     [](const CheckedSystem& system) { return system.healthy; });
  print_line(fmt::format(
      "{} of {} systems are healthy as far as is known; checked with fits that never saw their source:",
      healthy, alarms.systems.size()));
  print_line(fmt::format(
      "false alarms: {} with each source weighing the same, {} of machines; faster than expected: {}",
      percent(alarms.by_source, 1), percent(alarms.by_machine, 1), percent(alarms.too_fast_by_source, 1)));
  print(table({"healthy, with an alarm", "kind", "source"}, rows));
  print_line();
  print(
      table({"cause put in", ">machines", ">alarmed", ">among first two", ">within spread", ">alarmed there"},
            injected));
}

}  // namespace ringside::cli
