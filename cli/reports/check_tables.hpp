#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/reports/point_tables.hpp"
#include "study/logs/check.hpp"

/// What `ringside check` says of one log: lines, the table of its bands of sizes, and lines again.
namespace ringside::cli {

std::vector<std::string> check_start(const study::LogCheck& check);
/// A row per band; `others` says beside whom: `such machines`.
TextTable bands_table(const MachineCheck& check, std::string_view others);
/// The verdict of each band of sizes in one line, or why the results do not count.
std::string verdict_line(const study::LogCheck& check);
/// What to try next: a sentence, and a command below it.
std::vector<std::string> check_next(const study::LogCheck& check);
/// Ends with the same, where no command to tell a cause stands before.
std::vector<std::string> check_end(const study::LogCheck& check);

}  // namespace ringside::cli
