#include "analysis/evaluation/accuracy_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/limit_sentences.hpp"
#include "analysis/evaluation/misses.hpp"
#include "analysis/evaluation/told_every_fourth.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "common/units.hpp"

namespace ringside {

namespace {

std::string percentage(double fraction) { return fmt::format("{:.1f}", 100 * fraction); }

std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) {
    text += " " + cell + " |";
  }
  return text + "\n";
}

std::string head(const std::vector<std::string>& cells, std::size_t left) {
  std::vector<std::string> rule;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    rule.emplace_back(i < left ? "---" : "---:");
  }
  return row(cells) + row(rule);
}

/// What tests hold the program to, and what it is meant to reach. Fractions.
struct Bar {
  std::string_view what;
  AccuracyQuestion question;
  double threshold;  ///< The greatest mape that tests/cli/evaluate_test.py lets pass.
  std::optional<double> goal;
};

constexpr std::array<Bar, 8> kBars = {{
    {"one node, NVLink or xGMI", {"median", "node_nvlink", "all"}, 0.14, 0.10},
    {"one node, NVLink or xGMI: large messages", {"median", "node_nvlink", "large"}, 0.08, 0.05},
    {"several nodes, InfiniBand or RoCE, two or more GPUs each",
     {"median", "multi_node_rdma", "all"},
     0.14,
     0.11},
    {"several nodes, InfiniBand or RoCE: large messages", {"median", "multi_node_rdma", "large"}, 0.10, 0.08},
    {"several nodes, the rest", {"median", "multi_node_other", "all"}, 0.36, 0.28},
    {"one node, PCIe", {"median", "node_pcie", "all"}, 0.33, 0.28},
    {"one node, PCIe, conditioned on one large all_reduce",
     {"median", "node_pcie", "all", EvaluatedModel::ringside_known},
     0.16,
     std::nullopt},
    {"other collectives on one node, NVLink or xGMI",
     {"median", "other_collectives_nvlink", "all"},
     0.18,
     0.12},
}};

std::string bars(const AccuracyReport& report) {
  std::string text =
      head({"class", "threshold of the tests, %", "goal, %", "held out, %", "goal reached"}, 1);
  for (const Bar& bar : kBars) {
    const Accuracy* record = find(report.summaries, bar.question);
    if (record != nullptr) {
      const auto whole = [](double fraction) { return fmt::format("{:.0f}", 100 * fraction); };
      text += row({std::string(bar.what), whole(bar.threshold), bar.goal ? whole(*bar.goal) : "",
                   percentage(record->mape),
                   !bar.goal                   ? ""
                   : record->mape <= *bar.goal ? "yes"
                                               : "no"});
    }
  }
  return text +
         fmt::format("\nBetter than NCCL's own cost table on {} of {} systems ({}).\n",
                     report.better_than_tuner, report.compared_with_tuner,
                     percent(static_cast<double>(report.better_than_tuner) /
                             std::max(1, report.compared_with_tuner))) +
         fmt::format("Over PCIe on {} of {} ({}; the goal is 75 %).\n", report.better_than_tuner_pcie,
                     report.compared_with_tuner_pcie,
                     percent(static_cast<double>(report.better_than_tuner_pcie) /
                             std::max(1, report.compared_with_tuner_pcie)));
}

/// What each class is meant to reach beyond kBars.
struct ClassGoal {
  std::string_view what;
  std::string_view machine_class;
  double width;   ///< Greatest median of high / low, without anything known.
  double known2;  ///< Mean error, told 1 KiB and the largest; fractions.
  double known3;  ///< Told 1 MiB, too.
};

constexpr std::array<ClassGoal, 4> kClassGoals = {{
    {"one node, NVLink or xGMI", "node_nvlink", 2.6, 0.09, 0.07},
    {"several nodes, InfiniBand or RoCE, two or more GPUs each", "multi_node_rdma", 3, 0.10, 0.08},
    {"several nodes, the rest", "multi_node_other", 5.5, 0.22, 0.18},
    {"one node, PCIe", "node_pcie", 4.6, 0.09, 0.07},
}};
constexpr double kWidthToldTwo = 2;

std::string intervals(const AccuracyReport& report) {
  std::string text =
      head({"class", "goal: measured inside, %", "inside, %", "goal: width", "width", "goals reached"}, 1);
  for (const ClassGoal& goal : kClassGoals) {
    const Accuracy* record = find(report.summaries, {"median", goal.machine_class, "all"});
    if (record == nullptr || !record->coverage || !record->width) {
      continue;
    }
    const bool covers = *record->coverage >= 0.86 && *record->coverage <= 0.94;
    text += row({std::string(goal.what), "86 to 94", fmt::format("{:.0f}", 100 * *record->coverage),
                 fmt::format("{:g}", goal.width), fmt::format("{:.1f}", *record->width),
                 covers && *record->width <= goal.width ? "both"
                 : covers                               ? "inside"
                 : *record->width <= goal.width         ? "width"
                                                        : "neither"});
  }
  return text;
}

std::string reached(bool yes) { return yes ? "yes" : "no"; }

/// Classes and transports.
constexpr auto kParts = std::to_array<std::string_view>(
    {"node_nvlink", "multi_node_rdma", "multi_node_other", "node_pcie", "node_pcie_peer", "node_pcie_host"});

/// Coverage of each band of sizes and each transport.
std::string coverage(const AccuracyReport& report) {
  std::string text = head({"class or transport", "all", "small", "middle", "large", "within 86 to 94"}, 1);
  for (const std::string_view part : kParts) {
    std::vector<std::string> cells = {std::string(part)};
    int inside = 0;
    int bands = 0;
    for (const std::string_view band : {"all", "small", "middle", "large"}) {
      const Accuracy* record = find(report.summaries, {"median", part, band});
      if (record == nullptr || !record->coverage) {
        cells.emplace_back();
        continue;
      }
      const double percentage = std::round(100 * *record->coverage);
      ++bands;
      inside += percentage >= 86 && percentage <= 94 ? 1 : 0;
      cells.push_back(fmt::format("{:.0f}", percentage));
    }
    if (bands > 0) {
      cells.push_back(fmt::format("{} of {}", inside, bands));
      text += row(cells);
    }
  }
  return text;
}

std::string missed_systems(const AccuracyReport& report) {
  std::vector<MissGoal> goals;
  for (const Bar& bar : kBars) {
    if (bar.goal && bar.question.band == "all" && bar.question.model == EvaluatedModel::ringside) {
      goals.push_back(
          {.what = std::string(bar.what), .machine_class = bar.question.machine_class, .goal = *bar.goal});
    }
  }
  for (const ClassGoal& goal : kClassGoals) {
    const auto add = [&](EvaluatedModel model, double most, std::string_view told) {
      const Accuracy* record = find(report.summaries, {"median", goal.machine_class, "all", model});
      if (record != nullptr && record->mape > most) {
        goals.push_back({.what = fmt::format("{}, told {}", goal.what, told),
                         .machine_class = goal.machine_class,
                         .goal = most,
                         .model = model});
      }
    };
    add(EvaluatedModel::ringside_known2, goal.known2, "two");
    add(EvaluatedModel::ringside_known3, goal.known3, "three");
  }
  return misses(report, goals);
}

/// What one to three measurements bring.
std::string told(const AccuracyReport& report) {
  std::string text = head(
      {"class", "told", "goal, %", "held out, %", "goal reached", "goal: width", "width", "goal reached"}, 2);
  for (const ClassGoal& goal : kClassGoals) {
    const auto add = [&](EvaluatedModel model, std::string_view what, double most) {
      const Accuracy* record = find(report.summaries, {"median", goal.machine_class, "all", model});
      if (record == nullptr || !record->width) {
        return;
      }
      text +=
          row({std::string(goal.what), std::string(what), fmt::format("{:.0f}", 100 * most),
               percentage(record->mape), reached(record->mape <= most), fmt::format("{:g}", kWidthToldTwo),
               fmt::format("{:.1f}", *record->width), reached(*record->width <= kWidthToldTwo)});
    };
    add(EvaluatedModel::ringside_known2, "1 KiB and the largest", goal.known2);
    add(EvaluatedModel::ringside_known3, "1 KiB, 1 MiB and the largest", goal.known3);
  }
  return text;
}

/// Points that people ask about: what NVLS reaches, how far bus bandwidth falls over PCIe, and which of two forced algorithms wins.
struct Asked {
  std::string_view system;
  std::int64_t bytes;
};

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = kKi * kKi;
constexpr std::array<Asked, 8> kAsked = {{
    {"aic-h100_sxm-8x", 512 * kMi},
    {"aic-l40s-2x", 512 * kMi},
    {"aic-l40s-4x", 512 * kMi},
    {"aic-l40s-8x", 512 * kMi},
    {"l40s-pcie-2x-1node-ring__cs244c-research", 4 * kKi},
    {"l40s-pcie-2x-1node-tree__cs244c-research", 4 * kKi},
    {"l40s-pcie-2x-1node-ring__cs244c-research", 64 * kMi},
    {"l40s-pcie-2x-1node-tree__cs244c-research", 64 * kMi},
}};

std::string inside(const EvaluatedPoint* point) {
  if (point == nullptr) {
    return {};
  }
  return point->in_interval() ? "yes" : "no";
}

std::string asked_points(const AccuracyReport& report) {
  std::string rows;
  for (const Asked& asked : kAsked) {
    const EvaluatedPoint* point = find_point(report, asked.system, {asked.bytes});
    if (point == nullptr || !point->interval) {
      continue;
    }
    const auto busbw = [&](double seconds) {
      const double ratio = 2.0 * (point->ranks - 1) / point->ranks;
      return fmt::format("{:.3g}", ratio * static_cast<double>(asked.bytes) / seconds / 1e9);
    };
    rows += row({std::string(asked.system), format(Bytes{asked.bytes}), format(Seconds{point->measured}),
                 format(Seconds{point->predicted}),
                 fmt::format("{} to {}", format(Seconds{point->interval->low}),
                             format(Seconds{point->interval->high})),
                 busbw(point->measured), busbw(point->predicted),
                 fmt::format("{} to {}", busbw(point->interval->high), busbw(point->interval->low)),
                 inside(point), inside(find_point(report, asked.system, {asked.bytes}, Fold::in_sample)),
                 limit_sentences(point->limits)});
  }
  if (rows.empty()) {
    return {};
  }
  return head({"system", "message", "measured", "predicted", "90 % interval", "bus bandwidth", "predicted",
               "interval", "inside", "inside in sample", "why"},
              2) +
         rows;
}

std::string classes(const AccuracyReport& report) {
  std::string text = head({"class", "model", "fold", "sizes", "systems", "points", "error, % (median)",
                           "error, % (mean)", "factor", "bias, %", "in interval, %", "width"},
                          4);
  for (const Accuracy& record : report.summaries) {
    if (record.statistic != "median") {
      continue;
    }
    const auto mean =
        std::find_if(report.summaries.begin(), report.summaries.end(), [&](const Accuracy& other) {
          return other.statistic == "mean" && other.machine_class == record.machine_class &&
                 other.band == record.band && other.model == record.model && other.fold == record.fold;
        });
    text += row({*record.machine_class, *record.model, *record.fold, *record.band,
                 std::to_string(record.systems.value_or(0)), std::to_string(record.points),
                 percentage(record.mape), mean != report.summaries.end() ? percentage(mean->mape) : "",
                 fmt::format("{:.2f}", record.factor.value_or(1)), fmt::format("{:+.0f}", 100 * record.bias),
                 record.coverage ? fmt::format("{:.0f}", 100 * *record.coverage) : "",
                 record.width ? fmt::format("{:.1f}", *record.width) : ""});
  }
  return text;
}

std::string error_of(const EvaluatedSystem& system, const AccuracyQuestion& question) {
  const Accuracy* record = find(system.records, question);
  return record != nullptr ? percentage(record->mape) : "";
}

std::string systems_of(const AccuracyReport& report, MachineClass machine_class) {
  std::string text =
      head({"system", "group", "points", "all, %", "small", "middle", "large", "bias, %", "in interval, %",
            "in sample, %", "one large known, %", "cost table, %", "alpha-beta, %"},
           2);
  for (const EvaluatedSystem& system : report.systems) {
    const Accuracy* all = find(system.records, {});
    if (system.excluded || system.machine_class != machine_class || all == nullptr) {
      continue;
    }
    text += row({system.name + (system.uncertain ? " (uncertain description)" : ""), system.group,
                 std::to_string(all->points), percentage(all->mape), error_of(system, {.band = "small"}),
                 error_of(system, {.band = "middle"}), error_of(system, {.band = "large"}),
                 fmt::format("{:+.0f}", 100 * all->bias),
                 all->coverage ? fmt::format("{:.0f}", 100 * *all->coverage) : "",
                 error_of(system, {.fold = Fold::in_sample}),
                 error_of(system, {.model = EvaluatedModel::ringside_known}),
                 error_of(system, {.model = EvaluatedModel::nccl_tuner}),
                 error_of(system, {.model = EvaluatedModel::alpha_beta})});
  }
  return text;
}

std::string excluded_systems(const AccuracyReport& report) {
  std::string text = head({"system", "why", "points", "held out, %", "bias, %", "in interval, %"}, 2);
  for (const EvaluatedSystem& system : report.systems) {
    const Accuracy* all = find(system.records, {});
    if (system.excluded && all != nullptr) {
      text += row({system.name, *system.excluded, std::to_string(all->points), percentage(all->mape),
                   fmt::format("{:+.0f}", 100 * all->bias),
                   all->coverage ? fmt::format("{:.0f}", 100 * *all->coverage) : ""});
    }
  }
  if (!report.skipped.empty()) {
    text += "\nNot evaluated:\n\n";
    for (const std::string& skipped : report.skipped) {
      text += "- " + skipped + "\n";
    }
  }
  return text;
}

std::string parameters(const NcclFit& fit) {
  std::string text = fmt::format(
      "Fitted to {} systems ({} points, data `{}`) by `ringside evaluate "
      "configs/evaluation --fit`; "
      "`us` are microseconds, `1` is a ratio. κ and the rates of LL are known together rather than one by "
      "one; do not quote "
      "them as facts about hardware.\n\n",
      fit.systems, fit.points, fit.data_hash);
  text += head({"parameter", "unit", "meaning", "guess", "fitted"}, 3);
  const auto meanings = nccl_parameter_meanings();
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    text += row({fmt::format("`{}`", meanings[i].name), std::string(meanings[i].unit),
                 std::string(meanings[i].meaning), fmt::format("{:g}", meanings[i].guess),
                 fmt::format("{:.3g}", fit.parameters.values[i])});
  }
  return text;
}

}  // namespace

std::vector<PageSection> accuracy_tables(const AccuracyReport& report, const NcclFit& fit) {
  std::vector<PageSection> sections = {{"thresholds and goals", bars(report)},
                                       {"intervals", intervals(report)},
                                       {"coverage", coverage(report)},
                                       {"told", told(report)},
                                       {"told every fourth", told_every_fourth(report)},
                                       {"misses", missed_systems(report)},
                                       {"misses of coverage", misses_of_coverage(report, kParts)},
                                       {"single points", asked_points(report)},
                                       {"classes", classes(report)}};
  for (const auto machine_class :
       {MachineClass::node_nvlink, MachineClass::node_pcie, MachineClass::multi_node}) {
    sections.push_back({fmt::format("systems, {}", name(machine_class)), systems_of(report, machine_class)});
  }
  sections.push_back({"excluded systems", excluded_systems(report)});
  sections.push_back({"parameters", parameters(fit)});
  if (!report.fitted_to_these) {
    for (PageSection& section : sections) {
      section.text = "**The parameters were fitted to other data than these systems.**\n\n" + section.text;
    }
  }
  return sections;
}

std::string with_sections(std::string page, std::span<const PageSection> sections, std::string_view origin) {
  for (const PageSection& section : sections) {
    const std::string begin = fmt::format("<!-- {} -->\n", section.name);
    const std::string end = fmt::format("<!-- end of {} -->", section.name);
    const std::size_t from = page.find(begin);
    const std::size_t to = page.find(end);
    if (from == std::string::npos || to == std::string::npos || to < from) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: has no lines `<!-- {} -->` and `{}`, between which the tables go", origin,
                              section.name, end));
    }
    page.replace(from + begin.size(), to - from - begin.size(), "\n" + section.text + "\n");
  }
  return page;
}

}  // namespace ringside
