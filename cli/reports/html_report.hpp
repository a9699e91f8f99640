#pragma once

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "study/predict.hpp"
#include "study/read_study.hpp"

/// report.html of a study: what the screen says of it, its charts to hover, and how its numbers were made.
namespace ringside::cli {

/// `--report`; a build that cannot write one says so before anything is measured.
void add_report_flag(CLI::App& command, bool& report);

/// Beside the results of a study that has just ended; says where, or why there is none.
void write_report(const study::PointStudy& study, const CommonOptions& common, Progress& progress);

/// The same of a study that was written down, into a folder.
void write_report(const study::WrittenStudy& written, const std::filesystem::path& folder,
                  const CommonOptions& common, Progress& progress);

}  // namespace ringside::cli
