#include "cli/reports/check_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/comparison/comparison.hpp"
#include "cli/console.hpp"
#include "cli/reports/report.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "plots/charts/charts.hpp"

namespace ringside::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kShownCauses = 3;

std::string_view sizes_of(SizeBand band) {
  constexpr std::array<std::string_view, kNumSizeBands> kSizes = {"up to 64 KiB", "up to 16 MiB", "above"};
  return kSizes.at(static_cast<std::size_t>(band));
}

std::string verdict_of(const BandVerdict& band, std::string_view others) {
  switch (band.standing) {
    case Standing::slower:
      // Nobody knows a thousand such machines.
      return fmt::format("slower than {} of {}, by {}", percent(std::min(1 - band.share_as_slow, 0.999), 1),
                         others, factor_text(band.ratio));
    case Standing::faster:
      return fmt::format("faster than expected, by {}: is the description right?",
                         factor_text(1 / band.ratio));
    case Standing::held_back:
      return fmt::format("held back: {} of {} are as slow", percent(band.share_as_slow), others);
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

ordered_json record_of(const SuspectedCause& cause) {
  return {{"cause", std::string(name(cause.cause))},
          {"probability", cause.probability},
          {"slowdown", cause.slowdown},
          {"evidence", cause.evidence},
          {"command", std::string(telling_command(cause.cause))}};
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
          {"bands", bands_of(check.check.bands)},
          {"baseline", check.beside_baseline ? bands_of(check.beside_baseline->bands) : ordered_json()},
          {"causes", causes},
          {"held_back", check.check.held_back ? record_of(*check.check.held_back) : ordered_json()}};
}

void print_causes(const MachineCheck& check) {
  print_line("\nLikely causes, most likely first:");
  int number = 0;
  for (const SuspectedCause& suspected : shown_causes(check)) {
    const std::string slowdown = suspected.cause == Cause::something_else
                                     ? ""
                                     : fmt::format(", which would take {}", factor_text(suspected.slowdown));
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
  Rows rows;
  for (const BandVerdict& band : check.bands) {
    rows.push_back({std::string(sizes_of(band.band)), std::to_string(band.points), factor_text(band.ratio),
                    percent(band.share_as_slow, 1), verdict_of(band, others)});
  }
  print(table({"sizes", ">rows", ">measured/predicted", ">as slow", "verdict"}, rows));
}

}  // namespace

ordered_json bands_of(const std::vector<BandVerdict>& verdicts) {
  ordered_json bands = ordered_json::array();
  for (const BandVerdict& band : verdicts) {
    bands.push_back({{"band", std::string(name(band.band))},
                     {"points", band.points},
                     {"ratio", band.ratio},
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
    print_line(fmt::format("{}: {} of {} on {} ranks of {}{}", check.log,
                           count_of(check.check.points.size(), "size"), name(key.collective), key.ranks,
                           check.machine.name, check.recognised ? ", as the log says" : ""));
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
  if (const auto& cause = check.check.held_back) {
    print_line(fmt::format("Held back ({}): {}: {}. That alone is predicted to take {} as long. To tell: {}",
                           percent(cause->probability), fmt::join(cause->evidence, "; "),
                           sentence(cause->cause), factor_text(cause->slowdown),
                           telling_command(cause->cause)));
  }
  for (const CauseEvidence& evidence : check.evidence) {
    if (evidence.speaks_for && !(check.check.held_back && check.check.held_back->cause == evidence.cause)) {
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
  print_line(fmt::format(
      "NCCL does not run here, so there is no population of such machines to compare with (`ringside doctor` "
      "says what is missing).\nall_reduce of {} ranks over {}, beside what this machine's own probes expect:",
      points.empty() ? 0 : points.front().key.ranks, name(backend)));
  print(table({"algorithm", ">size", ">measured", ">expected", "verdict"}, rows));
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
      print_line(fmt::format("{}: {} at {}, the bound is {}: {}", check.log, shown(outcome.measured),
                             format(gate.bytes), shown(outcome.bound), right ? "passed" : "failed"));
    }
  }
  return passed;
}

}  // namespace ringside::cli
