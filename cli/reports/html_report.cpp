#include "cli/reports/html_report.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/point_sentences.hpp"
#include "analysis/fitted.hpp"
#include "analysis/plan/verdict.hpp"
#include "cli/reports/next_steps.hpp"
#include "cli/reports/plan_report.hpp"
#include "cli/reports/point_tables.hpp"
#include "cli/reports/report.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"
#include "schedule/program/policy.hpp"
#include "study/inputs/invocation.hpp"

namespace ringside::cli {
namespace {

using plots::HtmlReport;
using plots::HtmlTable;

constexpr std::size_t kMostRecords = std::size_t{1} << 20;  // Bytes.
constexpr std::size_t kMostRows = 4000;

HtmlTable html_table(std::string title, TextTable table, std::string remarks = {}) {
  const std::size_t rows = table.rows.size();
  table.rows.resize(std::min(rows, kMostRows));
  return {.title = std::move(title),
          .explained = rows > kMostRows
                           ? fmt::format("The first {} of {} rows; the records hold all.", kMostRows, rows)
                           : "",
          .header = std::move(table.header),
          .rows = std::move(table.rows),
          .remarks = std::move(remarks)};
}

/// A line for each text that a side of points has, with the number of those points.
template <typename Side, typename TextOf>
std::string counted(const std::vector<Point>& points, std::optional<Side> Point::*side, TextOf text_of) {
  std::map<std::string, int> found;
  for (const Point& point : points) {
    if (point.*side) {
      ++found[text_of(point, *(point.*side))];
    }
  }
  found.erase("");
  std::vector<std::string> lines;
  for (const auto& [text, count] : found) {
    lines.push_back(fmt::format("{}: {}", text, count_of(count, "point")));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

template <typename Side>
std::string policy_of(const Point& point, const Side& side) {
  return fmt::format("{}, {}", point.key.algorithm,
                     side.policy ? describe(*side.policy) : "the library's own policy");
}

std::string source_of(const Point& /*point*/, const Prediction& it) {
  return fmt::format("source {}, fidelity {}{}", name(it.source), name(it.fidelity),
                     it.known ? ", known: measured before" : "");
}

std::string outcome_of(const Point& /*point*/, const Measurement& it) {
  return fmt::format("backend {}, {}{}", name(it.backend), name(it.outcome),
                     it.shared_gpu ? ", shared GPU" : "");
}

std::string tuning_of(const Point& /*point*/, const Measurement& it) {
  if (!it.machine_tuning) {
    return "";
  }
  const MachineTuning& tuning = *it.machine_tuning;
  const std::string done = fmt::format("{}{}{}{}", tuning.bound_to_cores ? ", ranks bound to cores" : "",
                                       tuning.idle_states_prevented ? ", idle states prevented" : "",
                                       tuning.thread_priority ? ", reducing threads first" : "",
                                       tuning.batch_scheduling ? ", batch scheduling" : "");
  return done.empty() ? "machine as it was" : done.substr(2);
}

/// Title and facts of a report that has its points and its records.
void add_facts(const RunHeader& header, const Machine& machine, HtmlReport& report) {
  std::string host;
  for (const auto& [key, value] : header.host) {
    const std::optional<std::int64_t> bytes =
        key == "memory" ? parse_number<std::int64_t>(value) : std::nullopt;
    host += fmt::format("{}{}: {}", host.empty() ? "" : "\n", key, bytes ? format(Bytes{*bytes}) : value);
  }
  const std::string label = chart_label(machine);
  const std::vector<Point>& points = report.points;
  report.title = header.scenario.name;
  report.subtitle =
      fmt::format("{}{}{}, ringside {}", label, label.empty() ? "" : ", ", header.started, header.version);
  report.facts = {
      {"scenario", header.scenario.file.empty() ? header.scenario.name : header.scenario.file},
      {"machine", label},
      {"command", header.command},
      {"started", header.started},
      {"ringside", header.version},
      {"seed of the values", std::to_string(header.seed)},
      {"host of the run", host},
      {"SHA-256 of the records", sha256(json_for_page(report.records))},
      {"predictions", counted(points, &Point::predicted, source_of)},
      {"accuracy of such predictions", held_out_sentence(points, machine)},
      {"measurements", counted(points, &Point::measured, outcome_of)},
      {"machine while measuring", counted(points, &Point::measured, tuning_of)},
      {"notes of measurements",
       counted(points, &Point::measured, [](const Point&, const Measurement& it) { return it.note; })},
      {"policy of predictions", counted(points, &Point::predicted, policy_of<Prediction>)},
      {"policy of measurements", counted(points, &Point::measured, policy_of<Measurement>)}};
  report.files = {{"The scenario", header.scenario.text},
                  {"The machine, as a machine file", header.machine ? header.machine->yaml : ""}};
}

/// Whole lines, as many as a page takes; a note says what is missing.
void add_records(const std::string& lines, HtmlReport& report) {
  const std::size_t end = lines.size() <= kMostRecords ? lines.size() : lines.rfind('\n', kMostRecords) + 1;
  report.records = lines.substr(0, end);
  if (end < lines.size()) {
    report.notes.push_back(
        fmt::format("The records in this page are the first {} of {}.",
                    std::count(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(end), '\n'),
                    std::count(lines.begin(), lines.end(), '\n')));
  }
}

/// The first table stands above the charts, the others below. What is a sentence already is said once.
void add_said(const Transcript& said, std::string_view title, std::string_view next, HtmlReport& report) {
  const auto new_lines = [&report](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
      const auto has = [&line](const std::vector<std::string>& known) {
        return std::find(known.begin(), known.end(), line) != known.end();
      };
      if (!line.empty() && !has(report.sentences) && !has(report.next)) {
        lines.push_back(line);
      }
    }
    return lines;
  };
  const std::vector<std::string> before = new_lines(said.before);
  report.sentences.insert(report.sentences.end(), before.begin(), before.end());
  for (const Transcript::Part& part : said.tables) {
    const bool first = report.winners.rows.empty();
    HtmlTable& table = first ? report.winners : report.tables.emplace_back();
    table = html_table(std::string(first ? title : next), part.table,
                       fmt::format("{}", fmt::join(new_lines(part.after), "\n")));
  }
}

/// A dozen numbers of each curve, for those who do not see them.
HtmlTable table_of(const std::vector<plots::HtmlCurves>& charts) {
  HtmlTable table{.title = "Numbers of the charts", .header = {"chart", "offer", ">at", ">is"}};
  for (const plots::HtmlCurves& chart : charts) {
    for (const plots::Curve& curve : chart.curves) {
      for (std::size_t i = 0; i < curve.points.size(); i += 1 + curve.points.size() / 13) {
        const plots::XY& at = curve.points[i];
        table.rows.push_back({chart.title, curve.label, chart.x_text(at.x), percent(at.y)});
      }
    }
  }
  return table;
}

}  // namespace

HtmlReport report_of(const study::WrittenStudy& written) {
  const study::PointStudy& study = written.study;
  HtmlReport report{.sentences = study.conclusions.sentences,
                    .notes = written.notes,
                    .next = next_steps(study, written.header, written.ended),
                    .points = study.points};
  if (report.next.empty() && !written.header.scenario.text.empty() &&
      std::none_of(study.points.begin(), study.points.end(),
                   [](const Point& point) { return point.measured.has_value(); })) {
    report.next = first_measurement(written.header);
  }
  const std::vector<std::string> fitted = fitted_sentences(study.conclusions.fitted);
  report.sentences.insert(report.sentences.end(), fitted.begin(), fitted.end());
  study::PageRecords records = records_for_page(written, kMostRecords);
  report.records = std::move(records.text);
  if (!records.thinned.empty()) {
    report.notes.push_back(std::move(records.thinned));
  }
  add_facts(written.header, study.machine, report);

  std::vector<Verdict> verdicts;
  for (const Record& record : study.conclusions.records) {
    if (const auto* verdict = std::get_if<Verdict>(&record)) {
      verdicts.push_back(*verdict);
    }
  }
  report.winners = html_table("Who wins", winner_table(verdicts));
  report.tables.push_back(html_table("All times", comparison_table(study.points, ComparisonLayout::page)));
  if (!study.conclusions.accuracy.empty()) {
    report.tables.push_back(
        html_table("Accuracy of the predictions", accuracy_table(study.conclusions.accuracy)));
  }
  return report;
}

void add_report_flag(CLI::App& command, bool& report) {
  command.add_flag("--report", report, "Write report.html, too: one file to send")
      ->each([](const std::string&) { plots::require_charts(); });
}

void write_report(const HtmlReport& report, const std::filesystem::path& folder, const CommonOptions& common,
                  Progress& progress) {
  const std::filesystem::path file = folder / "report.html";
  study::write_file(file, plots::report_html(report));
  common.format == OutputFormat::table ? print_line("report: " + file.string())
                                       : progress.note("Report: " + file.string());
}

void write_report(const study::PointStudy& study, const CommonOptions& common, Progress& progress) {
  if (study.unwritable) {
    progress.note("No report: the results could not be written.");
    return;
  }
  study::WrittenStudy written = study::read_study(study.file);
  written.study = study;
  write_report(report_of(written), study.file.parent_path(), common, progress);
}

void write_report(const study::PlanStudy& study, const Transcript& said, const CommonOptions& common,
                  Progress& progress) {
  HtmlReport report{
      .sentences = verdict(study.ranked), .next = next_steps(study.ranked), .curves = plan_curves(study)};
  if (report.next.empty() && study.ranked.recommended) {
    report.next = {"Before the run, see on what you rent whether it is as fast as others of its kind:",
                   "  ringside check live"};
  }
  add_records(read_text(study.file), report);
  add_facts(read_results(study.file).header, {}, report);
  add_said(said, "The offers", "What would be enough", report);
  std::erase_if(report.curves, [](const plots::HtmlCurves& chart) { return chart.curves.empty(); });
  if (!report.curves.empty()) {
    report.tables.insert(report.tables.begin(), table_of(report.curves));
  }
  write_report(report, study.directory, common, progress);
}

void write_report(const CheckReport& check, const Transcript& said, const CommonOptions& common,
                  Progress& progress) {
  HtmlReport report{.sentences = check.verdict, .next = check.next, .points = check.points};
  const RunHeader header = study::plain_header(common, {.name = check.name, .file = check.name, .text = {}});
  std::string records = to_line(Record(header)) + '\n';
  for (const Point& point : check.points) {
    records += to_line(point) + '\n';
  }
  add_records(records + check.records, report);
  add_facts(header, check.machine, report);
  add_said(said, "The check", "Beside its baseline", report);
  if (!check.points.empty()) {
    report.tables.insert(report.tables.begin(),
                         html_table("All times", comparison_table(check.points, ComparisonLayout::page)));
  }
  write_report(report, study::output_directory(common, check.name), common, progress);
}

}  // namespace ringside::cli
