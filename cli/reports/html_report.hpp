#pragma once

#include <filesystem>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "plots/html/page.hpp"
#include "study/logs/check.hpp"
#include "study/plan/plan.hpp"
#include "study/predict.hpp"

/// report.html: what the screen says, charts to hover, and how the numbers were made.
namespace ringside::cli {

/// `--report`; a build that cannot write one says so before anything is measured.
void add_report_flag(CLI::App& command, bool& report);

/// The page of a study that was written down.
plots::HtmlReport report_of(const study::WrittenStudy& written);

/// Into a folder; says where.
void write_report(const plots::HtmlReport& report, const std::filesystem::path& folder,
                  const CommonOptions& common, Progress& progress);

/// The report of a study that has just ended, beside its results; says why, where there is none.
void write_report(const study::PointStudy& study, const CommonOptions& common, Progress& progress);

/// What was said of a plan; its verdict stands first.
void write_report(const study::PlanStudy& study, const Transcript& said, const CommonOptions& common,
                  Progress& progress);

/// What was said of checks. `points`: drawn, and in the records beside `records`, lines of JSON.
struct CheckReport {
  std::vector<std::string> verdict = {};
  std::vector<std::string> next = {};  ///< What to try next.
  std::string name = {};               ///< What the report and its folder are called.
  Machine machine = {};                ///< Without a name where there are several.
  std::vector<Point> points = {};
  std::string records = {};
};
void write_report(const CheckReport& check, const Transcript& said, const CommonOptions& common,
                  Progress& progress);

}  // namespace ringside::cli
