#pragma once

#include <filesystem>
#include <string>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "study/plan/plan.hpp"

/// What `ringside plan` says of a plan without a file: one screen.
namespace ringside::cli {

/// Which to rent, whether links are the bottleneck, whether ring beats naive there, and how sure that is; the records for
/// --format json.
void print_brief_plan(const study::PlanStudy& study, bool explained, const CommonOptions& common);

/// Which to rent or what cannot be told apart, how sure that is, and what would make it surer.
void print_verdict(const study::PlanStudy& study);

/// What the best offers and the asked ones take, step by step.
void print_explanations(const study::PlanStudy& study);

/// What synchronisation takes, without any computing.
void print_synchronisation(const study::SynchronisationStudy& study, const CommonOptions& common);

/// The plan file that was written, and how to ask it; nothing for --format json. `offers`: files of listings beside it.
void print_written_plan(const std::filesystem::path& file, const std::vector<std::string>& offers,
                        const std::string& yaml, const CommonOptions& common);

}  // namespace ringside::cli
