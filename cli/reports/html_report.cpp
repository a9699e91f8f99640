#include "cli/reports/html_report.hpp"

#include <algorithm>
#include <map>
#include <set>

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
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"
#include "schedule/program/policy.hpp"
#include "study/inputs/invocation.hpp"

namespace ringside::cli {
namespace {

using plots::HtmlReport;

constexpr std::size_t kMostRecords = std::size_t{1} << 20;  // Bytes.

std::string joined(const auto& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

/// A line for each text that points have, with the number of those points.
std::string counted(const std::vector<Point>& points, std::string (*text_of)(const Point&)) {
  std::map<std::string, int> found;
  for (const Point& point : points) {
    ++found[text_of(point)];
  }
  found.erase("");
  std::vector<std::string> lines;
  for (const auto& [text, count] : found) {
    lines.push_back(fmt::format("{}: {}", text, count_of(count, "point")));
  }
  return joined(lines);
}

template <auto side>
std::string policy_of(const Point& point) {
  const auto& it = point.*side;
  return !it ? ""
             : fmt::format("{}, {}", point.key.algorithm,
                           it->policy ? describe(*it->policy) : "the library's own policy");
}

std::string source_of(const Point& point) {
  const std::optional<Prediction>& it = point.predicted;
  return !it ? ""
             : fmt::format("source {}, fidelity {}{}", name(it->source), name(it->fidelity),
                           it->known ? ", known: measured before" : "");
}

std::string outcome_of(const Point& point) {
  const std::optional<Measurement>& it = point.measured;
  return !it ? ""
             : fmt::format("backend {}, {}{}", name(it->backend), name(it->outcome),
                           it->shared_gpu ? ", shared GPU" : "");
}

std::string note_of(const Point& point) { return point.measured ? point.measured->note : ""; }

std::string tuning_of(const Point& point) {
  if (!point.measured || !point.measured->machine_tuning) {
    return "";
  }
  const MachineTuning& tuning = *point.measured->machine_tuning;
  const std::string done = fmt::format("{}{}{}{}", tuning.bound_to_cores ? ", ranks bound to cores" : "",
                                       tuning.idle_states_prevented ? ", idle states prevented" : "",
                                       tuning.thread_priority ? ", reducing threads first" : "",
                                       tuning.batch_scheduling ? ", batch scheduling" : "");
  return done.empty() ? "machine as it was" : done.substr(2);
}

/// Title and facts of a report that has its points and its records.
void add_facts(const RunHeader& header, const Machine& machine, HtmlReport& report) {
  std::vector<std::string> host;
  for (const auto& [key, value] : header.host) {
    const auto bytes = key == "memory" ? parse_number<std::int64_t>(value) : std::nullopt;
    host.push_back(fmt::format("{}: {}", key, bytes ? format(Bytes{*bytes}) : value));
  }
  const std::string label = chart_label(machine);
  const std::vector<Point>& points = report.points;
  report.title = header.scenario.name;
  report.subtitle =
      fmt::format("{}{}{}, ringside {}", label, label.empty() ? "" : ", ", header.started, header.version);
  report.facts = {{"scenario", header.scenario.file.empty() ? header.scenario.name : header.scenario.file},
                  {"machine", label},
                  {"command", header.command},
                  {"started", header.started},
                  {"ringside", header.version},
                  {"seed of the values", std::to_string(header.seed)},
                  {"host of the run", joined(host)},
                  {"SHA-256 of the records", sha256(json_for_page(report.records))},
                  {"predictions", counted(points, source_of)},
                  {"accuracy of such predictions", held_out_sentence(points, machine)},
                  {"measurements", counted(points, outcome_of)},
                  {"machine while measuring", counted(points, tuning_of)},
                  {"notes of measurements", counted(points, note_of)},
                  {"policy of predictions", counted(points, policy_of<&Point::predicted>)},
                  {"policy of measurements", counted(points, policy_of<&Point::measured>)}};
  report.files = {{"The scenario", header.scenario.text},
                  {"The machine, as a machine file", header.machine ? header.machine->yaml : ""}};
}

/// Whole lines, as many as a page takes; a note says what is missing.
void add_records(const std::string& lines, HtmlReport& report) {
  const std::size_t end = lines.size() <= kMostRecords ? lines.size() : lines.rfind('\n', kMostRecords) + 1;
  report.records = lines.substr(0, end);
  if (end < lines.size()) {
    report.notes.push_back(fmt::format("The records in this page are the first {} of {}.",
                                       std::ranges::count(report.records, '\n'),
                                       std::ranges::count(lines, '\n')));
  }
}

/// The first table stands above the charts, the others below. What is a sentence already is said once.
void add_said(const Transcript& said, std::string_view title, std::string_view next, HtmlReport& report) {
  std::set<std::string, std::less<>> known(report.sentences.begin(), report.sentences.end());
  known.insert(report.next.begin(), report.next.end());
  const auto new_lines = [&known](const std::string& text) {
    std::vector<std::string_view> lines = split(text, '\n');
    std::erase_if(lines, [&](std::string_view line) { return line.empty() || known.contains(line); });
    return lines;
  };
  for (const std::string_view line : new_lines(said.before)) {
    report.sentences.emplace_back(line);
    known.emplace(line);
  }
  for (const Transcript::Part& part : said.tables) {
    const bool first = report.winners.table.rows.empty();
    plots::HtmlTable& table = first ? report.winners : report.tables.emplace_back();
    table = {std::string(first ? title : next), part.table, joined(new_lines(part.after))};
  }
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
  study::write_file(file, plots::report_html(report));
  common.format == OutputFormat::table ? print_line("report: " + file.string())
                                       : Progress(common.quiet).note("Report: " + file.string());
}

}  // namespace

HtmlReport report_of(const study::WrittenStudy& written) {
  const auto& [header, study, all_records, notes, ended] = written;
  HtmlReport report{.sentences = study.conclusions.sentences,
                    .notes = notes,
                    .next = next_steps(study, header, ended, true),
                    .points = study.points};
  const std::vector<std::string> fitted = fitted_sentences(study.conclusions.fitted);
  report.sentences.insert(report.sentences.end(), fitted.begin(), fitted.end());
  report.records = records_for_page(written, kMostRecords, report.notes);
  add_facts(header, study.machine, report);
  if (study.conclusions.pair) {
    report.winners = {"Who wins", winner_table(verdicts(study.points, *study.conclusions.pair))};
  }
  report.tables = {{"All times", comparison_table(study.points, ComparisonLayout::page)}};
  if (!study.conclusions.accuracy.empty()) {
    report.tables.push_back({"Accuracy of the predictions", accuracy_table(study.conclusions.accuracy)});
  }
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
  if (study.unwritable) {
    Progress(common.quiet).note("No report: the results could not be written.");
    return;
  }
  study::WrittenStudy written = study::read_study(study.file);
  written.study = study;
  write_report(written, common);
}

void write_report(const study::PlanStudy& study, const Transcript& said, const CommonOptions& common) {
  HtmlReport report{
      .sentences = verdict(study.ranked), .next = next_steps(study.ranked), .curves = plan_curves(study)};
  if (report.next.empty() && study.ranked.recommended) {
    report.next = {"Before the run, see on what you rent whether it is as fast as others of its kind:",
                   "  ringside check live"};
  }
  add_records(read_text(study.file), report);
  add_facts(read_results(study.file).header, {}, report);
  std::erase_if(report.curves, [](const plots::HtmlCurves& chart) { return chart.curves.empty(); });
  add_said(said, "The offers", "What would be enough", report);
  if (!report.curves.empty()) {
    report.tables.insert(report.tables.begin(), {"Numbers of the charts", numbers_of(report.curves)});
  }
  write(report, study.directory, common);
}

void write_report(HtmlReport report, const Machine& machine, const Transcript& said,
                  const CommonOptions& common) {
  const std::string name = report.title;
  const RunHeader header = study::plain_header(common, {.name = name, .file = name});
  std::string records = to_line(Record(header)) + '\n';
  for (const Point& point : report.points) {
    records += to_line(point) + '\n';
  }
  add_records(records + report.records, report);
  add_facts(header, machine, report);
  add_said(said, "The check", "Beside its baseline", report);
  if (!report.points.empty()) {
    report.tables.insert(report.tables.begin(),
                         {"All times", comparison_table(report.points, ComparisonLayout::page)});
  }
  write(report, study::output_directory(common, name), common);
}

}  // namespace ringside::cli
