#include "cli/reports/html_report.hpp"

#include <algorithm>
#include <map>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/fitted.hpp"
#include "cli/reports/point_tables.hpp"
#include "cli/reports/report.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "plots/html/page.hpp"
#include "results/codec/page_records.hpp"
#include "results/codec/sha256.hpp"
#include "schedule/program/policy.hpp"
#include "study/inputs/invocation.hpp"

namespace ringside::cli {
namespace {

constexpr std::size_t kMostRecords = std::size_t{1} << 20;  // Bytes; longer ones lose samples.
constexpr std::size_t kMostRows = 4000;

plots::HtmlTable html_table(std::string title, std::string explained, TextTable table) {
  return {.title = std::move(title),
          .explained = std::move(explained),
          .header = std::move(table.header),
          .rows = std::move(table.rows)};
}

/// How often each text occurs, in the order of the first.
class Counted {
 public:
  void add(const std::string& text) {
    if (counts_[text]++ == 0) {
      order_.push_back(text);
    }
  }
  std::string joined(std::string_view separator) const {
    std::vector<std::string> parts;
    for (const std::string& each : order_) {
      parts.push_back(fmt::format("{}: {}", each, count_of(counts_.at(each), "point")));
    }
    return fmt::format("{}", fmt::join(parts, separator));
  }
  std::string lines() const { return joined("\n"); }

 private:
  std::vector<std::string> order_;
  std::map<std::string, int> counts_;
};

/// Under which policies points were predicted, or ran: a line for each algorithm.
template <typename Side>
std::string policies_of(const std::vector<Point>& points, std::optional<Side> Point::*side) {
  std::vector<std::pair<std::string, Counted>> algorithms;
  for (const Point& point : points) {
    if (!(point.*side)) {
      continue;
    }
    auto found = std::find_if(algorithms.begin(), algorithms.end(),
                              [&](const auto& each) { return each.first == point.key.algorithm; });
    if (found == algorithms.end()) {
      found = algorithms.insert(algorithms.end(), {point.key.algorithm, {}});
    }
    const std::optional<ExecutionPolicy>& policy = (point.*side)->policy;
    found->second.add(policy ? describe(*policy) : "the library's own policy");
  }
  std::string text;
  for (const auto& [algorithm, policies] : algorithms) {
    text += fmt::format("{}{}, {}", text.empty() ? "" : "\n", algorithm, policies.joined("; "));
  }
  return text;
}

/// Once where predicted and measured ones are alike.
void add_policies(const std::vector<Point>& points, std::vector<plots::HtmlFact>& facts) {
  const std::string predicted = policies_of(points, &Point::predicted);
  const std::string measured = policies_of(points, &Point::measured);
  if (predicted == measured) {
    facts.emplace_back("policy, predicted and measured", predicted);
    return;
  }
  facts.emplace_back("policy of predictions", predicted);
  facts.emplace_back("policy of measurements", measured);
}

std::string tuning_text(const MachineTuning& tuning) {
  std::vector<std::string> done;
  const auto add = [&](bool is_done, const char* what) {
    if (is_done) {
      done.emplace_back(what);
    }
  };
  add(tuning.bound_to_cores, "ranks bound to cores");
  add(tuning.idle_states_prevented, "idle states prevented");
  add(tuning.thread_priority, "reducing threads first");
  add(tuning.batch_scheduling, "batch scheduling");
  return done.empty() ? "machine as it was" : fmt::format("{}", fmt::join(done, ", "));
}

void add_prediction_facts(const std::vector<Point>& points, std::vector<plots::HtmlFact>& facts) {
  Counted sources;
  for (const Point& point : points) {
    if (point.predicted) {
      sources.add(fmt::format("source {}, fidelity {}{}", name(point.predicted->source),
                              name(point.predicted->fidelity),
                              point.predicted->known ? ", known: measured before" : ""));
    }
  }
  facts.emplace_back("predictions", sources.lines());
}

void add_measurement_facts(const std::vector<Point>& points, std::vector<plots::HtmlFact>& facts) {
  Counted backends;
  Counted machine;
  Counted notes;
  for (const Point& point : points) {
    if (const std::optional<Measurement>& measured = point.measured) {
      backends.add(fmt::format("backend {}, {}{}", name(measured->backend), name(measured->outcome),
                               measured->shared_gpu ? ", shared GPU" : ""));
      if (measured->machine_tuning) {
        machine.add(tuning_text(*measured->machine_tuning));
      }
      if (!measured->note.empty()) {
        notes.add(measured->note);
      }
    }
  }
  facts.emplace_back("measurements", backends.lines());
  facts.emplace_back("machine while measuring", machine.lines());
  facts.emplace_back("notes of measurements", notes.lines());
}

std::vector<plots::HtmlFact> facts_of(const RunHeader& header, const study::PointStudy& study) {
  std::string host;
  for (const auto& [key, value] : header.host) {
    const std::optional<std::int64_t> bytes =
        key == "memory" ? parse_number<std::int64_t>(value) : std::nullopt;
    host += fmt::format("{}{}: {}", host.empty() ? "" : "\n", key, bytes ? format(Bytes{*bytes}) : value);
  }
  std::vector<plots::HtmlFact> facts = {
      {"scenario", header.scenario.file.empty() ? header.scenario.name : header.scenario.file},
      {"machine", chart_label(study.machine)},
      {"command", header.command},
      {"started", header.started},
      {"ringside", header.version},
      {"seed of the values", std::to_string(header.seed)},
      {"host of the run", host}};
  add_prediction_facts(study.points, facts);
  add_measurement_facts(study.points, facts);
  add_policies(study.points, facts);
  std::erase_if(facts, [](const plots::HtmlFact& fact) { return fact.second.empty(); });
  return facts;
}

std::vector<Verdict> verdicts_of(const study::Conclusions& conclusions) {
  std::vector<Verdict> verdicts;
  for (const Record& record : conclusions.records) {
    if (const auto* verdict = std::get_if<Verdict>(&record)) {
      verdicts.push_back(*verdict);
    }
  }
  return verdicts;
}

plots::HtmlReport report_of(const study::WrittenStudy& written) {
  const study::PointStudy& study = written.study;
  const RunHeader& header = written.header;
  plots::HtmlReport report{.title = header.scenario.name,
                           .subtitle = fmt::format("{}, {}, ringside {}", chart_label(study.machine),
                                                   header.started, header.version),
                           .sentences = study.conclusions.sentences,
                           .notes = written.notes,
                           .points = study.points,
                           .facts = facts_of(header, study)};
  for (const auto& lines : {fitted_sentences(study.conclusions.fitted), advice_lines(study.native)}) {
    report.sentences.insert(report.sentences.end(), lines.begin(), lines.end());
  }
  study::PageRecords records = records_for_page(written, kMostRecords);
  report.records = std::move(records.text);
  report.facts.emplace_back("SHA-256 of the records", sha256(json_for_page(report.records)));
  if (!records.thinned.empty()) {
    report.notes.push_back(std::move(records.thinned));
  }

  if (const std::vector<Verdict> verdicts = verdicts_of(study.conclusions); !verdicts.empty()) {
    report.winners = html_table("Who wins", "", winner_table(verdicts));
  }
  TextTable times = comparison_table(study.points, ComparisonLayout::page);
  std::string explained;
  if (times.rows.size() > kMostRows) {
    explained = fmt::format("The first {} of {} rows; the records hold all.", kMostRows, times.rows.size());
    times.rows.resize(kMostRows);
  }
  report.tables.push_back(html_table("All times", std::move(explained), std::move(times)));
  if (!study.conclusions.accuracy.empty()) {
    report.tables.push_back(
        html_table("Accuracy of the predictions", "", accuracy_table(study.conclusions.accuracy)));
  }

  report.files.emplace_back("The scenario", header.scenario.text);
  report.files.emplace_back("The machine, as a machine file", header.machine ? header.machine->yaml : "");
  std::erase_if(report.files, [](const plots::HtmlFact& file) { return file.second.empty(); });
  return report;
}

}  // namespace

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
  const std::filesystem::path file = folder / "report.html";
  study::write_file(file, plots::report_html(report_of(written)));
  if (common.format == OutputFormat::table) {
    print_line(fmt::format("report: {}", file.string()));
  } else {
    progress.note(fmt::format("Report: {}", file.string()));
  }
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

}  // namespace ringside::cli
