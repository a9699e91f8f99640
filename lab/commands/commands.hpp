#pragma once

#include "cli/commands.hpp"

/// One function per command of `ringside-lab`, as in cli/commands.hpp.
namespace ringside::lab {

void add_evaluate(CLI::App& app, cli::CommonOptions& common);
void add_fit(CLI::App& app, cli::CommonOptions& common);
void add_freeze(CLI::App& app, cli::CommonOptions& common);
void add_score(CLI::App& app, cli::CommonOptions& common);
void add_false_alarms(CLI::App& app, cli::CommonOptions& common);
void add_validate(CLI::App& app, cli::CommonOptions& common);

}  // namespace ringside::lab
