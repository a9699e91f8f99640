#include "cli/program.hpp"
#include "lab/commands/commands.hpp"

int main(int argc, char** argv) {
  using namespace ringside;
  return cli::run_program(
      {.name = "ringside-lab",
       .description = "ringside-lab: how well our own models predict, and what they are fitted to",
       .example = "evaluate DIR",
       .start = "evaluate configs/evaluation",
       .commands = {lab::add_evaluate, lab::add_fit, lab::add_freeze, lab::add_score, lab::add_false_alarms,
                    lab::add_validate}},
      argc, argv);
}
