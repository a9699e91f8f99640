#include "cli/reports/html_report.hpp"

#include <algorithm>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/point_sentences.hpp"
#include "analysis/fitted.hpp"
#include "analysis/plan/verdict.hpp"
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

/// A line for each text that points have, with the number of those points.
template <typename TextOf>
std::string counted(const std::vector<Point>& points, TextOf text_of) {
  std::vector<std::pair<std::string, int>> found;
  for (const Point& point : points) {
    const std::string text = text_of(point);
    const auto at =
        std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.first == text; });
    at == found.end() ? static_cast<void>(found.emplace_back(text, 1)) : static_cast<void>(++at->second);
  }
  std::string lines;
  for (const auto& [text, count] : found) {
    if (!text.empty()) {
      lines += fmt::format("{}{}: {}", lines.empty() ? "" : "\n", text, count_of(count, "point"));
    }
  }
  return lines;
}

template <typename Side>
std::string policies_of(const std::vector<Point>& points, std::optional<Side> Point::*side) {
  return counted(points, [side](const Point& point) -> std::string {
    const std::optional<Side>& it = point.*side;
    return !it ? ""
               : fmt::format("{}, {}", point.key.algorithm,
                             it->policy ? describe(*it->policy) : "the library's own policy");
  });
}

std::string source_of(const Point& point) {
  return !point.predicted ? ""
                          : fmt::format("source {}, fidelity {}{}", name(point.predicted->source),
                                        name(point.predicted->fidelity),
                                        point.predicted->known ? ", known: measured before" : "");
}

std::string outcome_of(const Point& point) {
  return !point.measured
             ? ""
             : fmt::format("backend {}, {}{}", name(point.measured->backend), name(point.measured->outcome),
                           point.measured->shared_gpu ? ", shared GPU" : "");
}

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

std::string note_of(const Point& point) { return point.measured ? point.measured->note : ""; }

void add_facts(const RunHeader& header, std::string machine, HtmlReport& report) {
  std::string host;
  for (const auto& [key, value] : header.host) {
    const std::optional<std::int64_t> bytes =
        key == "memory" ? parse_number<std::int64_t>(value) : std::nullopt;
    host += fmt::format("{}{}: {}", host.empty() ? "" : "\n", key, bytes ? format(Bytes{*bytes}) : value);
  }
  report.title = header.scenario.name;
  report.subtitle = fmt::format("{}{}{}, ringside {}", machine, machine.empty() ? "" : ", ", header.started,
                                header.version);
  report.facts = {{"scenario", header.scenario.file.empty() ? header.scenario.name : header.scenario.file},
                  {"machine", std::move(machine)},
                  {"command", header.command},
                  {"started", header.started},
                  {"ringside", header.version},
                  {"seed of the values", std::to_string(header.seed)},
                  {"host of the run", host},
                  {"SHA-256 of the records", sha256(json_for_page(report.records))}};
  report.files = {{"The scenario", header.scenario.text},
                  {"The machine, as a machine file", header.machine ? header.machine->yaml : ""}};
}

void add_facts_of(const std::vector<Point>& points, const Machine& machine, HtmlReport& report) {
  for (plots::HtmlFact& fact :
       std::vector<plots::HtmlFact>{{"predictions", counted(points, source_of)},
                                    {"accuracy of such predictions", held_out_sentence(points, machine)},
                                    {"measurements", counted(points, outcome_of)},
                                    {"machine while measuring", counted(points, tuning_of)},
                                    {"notes of measurements", counted(points, note_of)},
                                    {"policy of predictions", policies_of(points, &Point::predicted)},
                                    {"policy of measurements", policies_of(points, &Point::measured)}}) {
    report.facts.push_back(std::move(fact));
  }
}

void write(const HtmlReport& report, const std::filesystem::path& folder, const CommonOptions& common,
           Progress& progress) {
  const std::filesystem::path file = folder / "report.html";
  study::write_file(file, plots::report_html(report));
  if (common.format == OutputFormat::table) {
    print_line(fmt::format("report: {}", file.string()));
  } else {
    progress.note(fmt::format("Report: {}", file.string()));
  }
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

/// Lines that were printed, without those that are empty.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) {
      lines.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The first table stands above the charts, the others below. What is a sentence already is said once.
void add_said(const Transcript& said, std::string_view title, std::string_view next, HtmlReport& report) {
  std::vector<std::string>& sentences = report.sentences;
  const auto is_said = [&](const std::string& line) {
    return std::find(sentences.begin(), sentences.end(), line) != sentences.end();
  };
  std::vector<std::string> before = lines_of(said.before);
  std::erase_if(before, is_said);
  sentences.insert(sentences.end(), before.begin(), before.end());
  for (const Transcript::Part& part : said.tables) {
    std::vector<std::string> after = lines_of(part.after);
    std::erase_if(after, is_said);
    const bool first = report.winners.rows.empty();
    HtmlTable& table = first ? report.winners : report.tables.emplace_back();
    table =
        html_table(std::string(first ? title : next), part.table, fmt::format("{}", fmt::join(after, "\n")));
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
  HtmlReport report{.sentences = study.conclusions.sentences, .notes = written.notes, .points = study.points};
  for (const auto& lines : {fitted_sentences(study.conclusions.fitted), advice_lines(study.native)}) {
    report.sentences.insert(report.sentences.end(), lines.begin(), lines.end());
  }
  study::PageRecords records = records_for_page(written, kMostRecords);
  report.records = std::move(records.text);
  if (!records.thinned.empty()) {
    report.notes.push_back(std::move(records.thinned));
  }
  add_facts(written.header, chart_label(study.machine), report);
  add_facts_of(study.points, study.machine, report);

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
  command.add_flag_callback(
      "--report",
      [&report] {
        if (const std::string why = plots::why_no_report(); !why.empty()) {
          throw Error(ErrorKind::environment, why);
        }
        report = true;
      },
      "Write report.html, too: one file to send");
}

void write_report(const study::WrittenStudy& written, const std::filesystem::path& folder,
                  const CommonOptions& common, Progress& progress) {
  write(report_of(written), folder, common, progress);
}

void write_report(const study::PointStudy& study, const CommonOptions& common, Progress& progress) {
  if (study.unwritable) {
    progress.note("No report: the results could not be written.");
    return;
  }
  study::WrittenStudy written = study::read_study(study.file);
  written.study = study;
  write_report(written, study.file.parent_path(), common, progress);
}

void write_report(const study::PlanStudy& study, const Transcript& said, const CommonOptions& common,
                  Progress& progress) {
  HtmlReport report{.sentences = verdict(study.ranked), .curves = plan_curves(study)};
  add_records(read_text(study.file), report);
  add_facts(read_results(study.file).header, "", report);
  add_said(said, "The offers", "What would be enough", report);
  std::erase_if(report.curves, [](const plots::HtmlCurves& chart) { return chart.curves.empty(); });
  if (!report.curves.empty()) {
    report.tables.insert(report.tables.begin(), table_of(report.curves));
  }
  write(report, study.directory, common, progress);
}

void write_report(const CheckReport& check, const Transcript& said, const CommonOptions& common,
                  Progress& progress) {
  HtmlReport report{.sentences = check.verdict, .points = check.points};
  const RunHeader header = study::plain_header(common, {.name = check.name, .file = check.name, .text = {}});
  std::string records = to_line(Record(header)) + '\n';
  for (const Point& point : check.points) {
    records += to_line(point) + '\n';
  }
  add_records(records + check.records, report);
  add_facts(header, check.machine.name, report);
  add_facts_of(check.points, check.machine, report);
  add_said(said, "The check", "Beside its baseline", report);
  if (!check.points.empty()) {
    report.tables.insert(report.tables.begin(),
                         html_table("All times", comparison_table(check.points, ComparisonLayout::page)));
  }
  write(report, study::output_directory(common, check.name), common, progress);
}

}  // namespace ringside::cli
