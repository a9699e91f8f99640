#include "cli/reports/html_report.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/point_sentences.hpp"
#include "analysis/comparison/verdict.hpp"
#include "analysis/fitted.hpp"
#include "analysis/plan/verdict.hpp"
#include "cli/reports/next_steps.hpp"
#include "cli/reports/plan_report.hpp"
#include "cli/reports/point_tables.hpp"
#include "cli/reports/report.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "schedule/program/policy.hpp"
#include "study/inputs/invocation.hpp"

namespace ringside::cli {
namespace {

using plots::HtmlReport;

constexpr std::size_t kMostRecords = std::size_t{1} << 20;  // Bytes.
constexpr std::size_t kMostSamples = 25;                    // A point has no more where records are longer.

std::string joined(const auto& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

/// A line for each text of points that have this half, with the number of those points.
std::string counted(const std::vector<Point>& points, auto half, auto text_of) {
  std::map<std::string, int> found;
  for (const Point& point : points) {
    if (const auto& it = point.*half) {
      ++found[text_of(point.key, *it)];
    }
  }
  found.erase("");
  return joined(mapped(found, [](const auto& each) {
    return fmt::format("{}: {}", each.first, count_of(each.second, "point"));
  }));
}

std::string policy_of(const PointKey& key, const auto& it) {
  return fmt::format("{}, {}", key.algorithm, it.policy ? describe(*it.policy) : "the library's own policy");
}

std::string source_of(const PointKey& /*key*/, const Prediction& it) {
  return fmt::format("source {}, fidelity {}{}", name(it.source), name(it.fidelity),
                     it.known ? ", known: measured before" : "");
}

std::string outcome_of(const PointKey& /*key*/, const Measurement& it) {
  return fmt::format("backend {}, {}{}", name(it.backend), name(it.outcome),
                     it.shared_gpu ? ", shared GPU" : "");
}

std::string tuning_of(const PointKey& /*key*/, const Measurement& it) {
  if (!it.machine_tuning) {
    return "";
  }
  const auto& [bound, awake, first, batch] = *it.machine_tuning;
  const std::string done =
      fmt::format("{}{}{}{}", bound ? ", ranks bound to cores" : "", awake ? ", idle states prevented" : "",
                  first ? ", reducing threads first" : "", batch ? ", batch scheduling" : "");
  return done.empty() ? "machine as it was" : done.substr(2);
}

std::string note_of(const PointKey& /*key*/, const Measurement& it) { return it.note; }

/// Title and facts of a report that has its points and its records; of these a page takes so many lines.
void finish(const RunHeader& header, const Machine& machine, HtmlReport& report) {
  if (report.records.size() > kMostRecords) {
    const auto all = std::ranges::count(report.records, '\n');
    report.records.resize(report.records.rfind('\n', kMostRecords) + 1);
    report.notes.push_back(fmt::format("The records in this page are the first {} of {}.",
                                       std::ranges::count(report.records, '\n'), all));
  }
  const auto host = mapped(header.host, [](const auto& fact) {
    const auto bytes = fact.first == "memory" ? parse_number<std::int64_t>(fact.second) : std::nullopt;
    return fmt::format("{}: {}", fact.first, bytes ? format(Bytes{*bytes}) : fact.second);
  });
  const std::string label = chart_label(machine);
  const std::vector<Point>& points = report.points;
  report.title = header.scenario.name;
  report.subtitle =
      fmt::format("{}{}{}, ringside {}", label, label.empty() ? "" : ", ", header.started, header.version);
  report.facts = {{"scenario", header.scenario.file.empty() ? header.scenario.name : header.scenario.file},
                  {"command", header.command},
                  {"seed of the values", std::to_string(header.seed)},
                  {"host of the run", joined(host)},
                  {"SHA-256 of the records", sha256(json_for_page(report.records))},
                  {"predictions", counted(points, &Point::predicted, source_of)},
                  {"accuracy of such predictions", held_out_sentence(points, machine)},
                  {"measurements", counted(points, &Point::measured, outcome_of)},
                  {"machine while measuring", counted(points, &Point::measured, tuning_of)},
                  {"notes of measurements", counted(points, &Point::measured, note_of)},
                  {"policy of predictions", counted(points, &Point::predicted, policy_of<Prediction>)},
                  {"policy of measurements", counted(points, &Point::measured, policy_of<Measurement>)}};
  report.files = {{"The scenario", header.scenario.text},
                  {"The machine, as a machine file", header.machine ? header.machine->yaml : ""}};
}

/// With some samples of each point. Whole points: a repetition that is a line of its own needs all samples of
/// the lines before it.
std::string thinned(const study::WrittenStudy& written) {
  std::vector<Point> points = written.study.points;
  for (Point& point : points) {
    if (point.measured) {
      const std::vector<double> samples = std::exchange(point.measured->samples, {});
      for (std::size_t i = 0; i < samples.size(); i += 1 + (samples.size() - 1) / kMostSamples) {
        point.measured->samples.push_back(samples[i]);
      }
    }
  }
  return to_line(written.header) + '\n' + to_lines(points) + to_lines(written.study.conclusions.records);
}

/// A dozen numbers of each curve, for those who do not see them.
TextTable numbers_of(const std::vector<plots::HtmlCurves>& charts) {
  TextTable table{.header = {"chart", "offer", ">at", ">is"}, .rows = {}};
  for (const plots::HtmlCurves& chart : charts) {
    for (const plots::Curve& curve : chart.curves) {
      for (std::size_t i = 0; i < curve.points.size(); i += 1 + curve.points.size() / 13) {
        const auto& [x, y] = curve.points[i];
        table.rows.push_back({chart.title, curve.label, chart.x_text(x), percent(y)});
      }
    }
  }
  return table;
}

void write(const HtmlReport& report, const std::filesystem::path& folder, const CommonOptions& common) {
  const std::filesystem::path file = folder / "report.html";
  write_file(file, plots::report_html(report));
  common.format == OutputFormat::table ? print_line("report: " + file.string())
                                       : Progress(common.quiet).note("Report: " + file.string());
}

}  // namespace

HtmlReport report_of(const study::WrittenStudy& written) {
  const auto& [header, study, records, notes, ended] = written;
  const auto& pair = study.conclusions.pair;
  HtmlReport report{.sentences = study.conclusions.sentences,
                    .notes = notes,
                    .next = next_steps(study, header.command, ended, true),
                    .points = study.points,
                    .winners = {"Who wins", pair ? winner_table(verdicts(study.points, *pair)) : TextTable()},
                    .tables = {{"All times", comparison_table(study.points, ComparisonLayout::page)},
                               {"Accuracy of the predictions", accuracy_table(study.conclusions.accuracy)}},
                    .records = records};
  std::ranges::copy(fitted_sentences(study.conclusions.fitted), std::back_inserter(report.sentences));
  if (records.size() > kMostRecords) {
    report.records = thinned(written);
    report.notes.push_back(fmt::format(
        "The records in this page hold up to {} samples of a point, evenly picked; medians and intervals are "
        "of all of them.",
        kMostSamples));
  }
  finish(header, study.machine, report);
  return report;
}

void add_report_flag(CLI::App& command, bool& report) {
  command.add_flag("--report", report, "Write report.html, too: one file to send")
      ->each([](const std::string&) { plots::require_charts(); });
}

void write_report(const study::WrittenStudy& written, const CommonOptions& common) {
  write(report_of(written),
        common.output ? study::output_directory(common, written.header.scenario.name)
                      : written.study.file.parent_path(),
        common);
}

void write_report(const study::PointStudy& study, const CommonOptions& common) {
  study::WrittenStudy written = study::read_study(study.file);
  written.study = study;
  write_report(written, common);
}

void write_report(const study::PlanStudy& study, const CommonOptions& common) {
  HtmlReport report{.sentences = verdict(study.ranked),
                    .next = next_steps(study.ranked),
                    .curves = plan_curves(study),
                    .winners = {"The offers"},
                    .records = read_text(study.file)};
  if (report.next.empty() && study.ranked.recommended) {
    report.next = {"Before the run, see on what you rent whether it is as fast as others of its kind:",
                   "  ringside check live"};
  }
  std::erase_if(report.curves, [](const plots::HtmlCurves& chart) { return chart.curves.empty(); });
  report.tables = {{"Numbers of the charts", numbers_of(report.curves)}};
  const PlanView whole{.explained = true, .top = study.ranked.order.size()};
  const auto say = [&](const CommonOptions& as) { print_plan(study, whole, as); };
  write_report(std::move(report), {}, say, "What would be enough", common);
}

void write_report(HtmlReport report, const Machine& machine, const Say& say, std::string_view others,
                  const CommonOptions& common) {
  CommonOptions as_table = common;
  as_table.format = OutputFormat::table;
  const Transcript said = said_by([&] { say(as_table); });
  const auto new_lines = [&report](std::string_view text) {
    auto lines = mapped<std::string>(split(text, '\n'), std::identity());
    std::erase_if(lines, [&](const std::string& it) {
      return it.empty() || std::ranges::count(report.sentences, it) + std::ranges::count(report.next, it) > 0;
    });
    return lines;
  };
  std::ranges::copy(new_lines(said.before), std::back_inserter(report.sentences));
  for (const Transcript::Part& part : said.tables) {
    const bool first = &part == &said.tables.front();
    plots::HtmlTable& table = first ? report.winners : report.tables.emplace_back();
    table = {first ? table.title : std::string(others), part.table, joined(new_lines(part.after))};
  }
  finish(parse_results(report.records, "the report").header, machine, report);
  write(report, study::output_directory(common, report.title), common);
}

}  // namespace ringside::cli
