#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"

/// What our programs share around commands: flags, nearest right names, errors as text and exit status.
namespace ringside::cli {

struct Program {
  std::string name;
  std::string description;
  std::string example;  ///< A command with what it takes.
  std::string start;    ///< What to type first.
  int (*rank)(std::span<const std::string> arguments) =
      nullptr;  ///< Runs `rank …`, as run_rank() (real/rank_program.hpp).
  std::vector<void (*)(CLI::App&, CommonOptions&)> commands;
  /// Commands and flags that another program has now, with what to type there.
  std::vector<std::pair<std::string, std::string>> moved = {};
};

/// The exit status of main().
int run_program(const Program& program, int argc, char** argv);

}  // namespace ringside::cli
