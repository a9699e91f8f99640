#include "cli/program.hpp"
#include "real/rank_program.hpp"

namespace {

using namespace ringside;  // Nothing else is at file scope here.

const cli::Program kRingside = {
    .name = "ringside",
    .description = "ringside: is ring all_reduce faster here, and what will it cost there?",
    .example = "compare SCENARIO",
    .start = "compare configs/scenarios/quickstart.yaml",
    .rank = run_rank,
    .commands = {cli::add_compare, cli::add_predict, cli::add_measure, cli::add_calibrate, cli::add_plan,
                 cli::add_check, cli::add_import, cli::add_submit, cli::add_report, cli::add_show,
                 cli::add_show_native, cli::add_trace, cli::add_tune, cli::add_list, cli::add_doctor},
    .moved = {{"evaluate", "ringside-lab evaluate"},
              {"--false-alarms", "ringside-lab false-alarms"},
              {"--validate", "ringside-lab validate"}}};

}  // namespace

int main(int argc, char** argv) { return cli::run_program(kRingside, argc, argv); }
