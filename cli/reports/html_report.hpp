#pragma once

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "plots/html/page.hpp"
#include "study/plan/plan.hpp"
#include "study/predict.hpp"

/// report.html: what the screen says, charts to hover, and how the numbers were made.
namespace ringside::cli {

using Say = std::function<void(const CommonOptions&)>;

/// `--report`; a build that cannot write one says so before anything is measured.
void add_report_flag(CLI::App& command, bool& report);

/// The page of a study that was written down.
plots::HtmlReport report_of(const study::WrittenStudy& written);

/// The same as report.html beside its results or where --output says; says where.
void write_report(const study::WrittenStudy& written, const CommonOptions& common);

/// That of a study that has just ended: its results do not hold what probes after the first found.
void write_report(const study::PointStudy& study, const CommonOptions& common);

/// All that is said of a plan; its verdict stands first.
void write_report(const study::PlanStudy& study, const CommonOptions& common);

/// What `say` prints, added to a report that has its records. The first table stands above the charts; other
/// tables, called `others`, stand below. `machine` has no name where there are several.
void write_report(plots::HtmlReport report, const Machine& machine, const Say& say, std::string_view others,
                  const CommonOptions& common);

}  // namespace ringside::cli
