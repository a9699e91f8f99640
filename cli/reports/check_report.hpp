#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/commands.hpp"
#include "study/logs/check.hpp"

/// What `ringside check` says.
namespace ringside::cli {

/// One row of a run that still goes on.
void print_live_row(const Point& point);

/// Verdicts per band of sizes, and the likely causes where one is slow.
void print_check(const study::LogCheck& check, const CommonOptions& common);
/// The name of its folder for results.
std::string folder_of(const study::LogCheck& check);
/// `bus_bandwidth` of the log on the predicted band.
void draw_check(const study::LogCheck& check, const CommonOptions& common);

/// What was measured on CPUs, beside what this machine's own probes say: no population of such is known.
void print_own_probes(const std::vector<Point>& points, Backend backend, const CommonOptions& common);

/// Whether all logs pass.
bool print_gate(const Gate& gate, const std::vector<study::LogCheck>& checks, const CommonOptions& common);

/// As a list of JSON objects.
nlohmann::ordered_json bands_of(const std::vector<BandVerdict>& verdicts);

// What `ringside check` says of many logs at once.

/// A line per log, and the slow nodes and pairs of nodes; `problems`: of logs that could not be checked.
void print_checks(const std::vector<study::LogCheck>& checks, const std::vector<std::string>& problems,
                  const CommonOptions& common);
/// `check_map`: logs × bands; `check_pairs`: nodes × nodes, of logs of two hosts each.
void draw_checks(const std::vector<study::LogCheck>& checks, const CommonOptions& common);

}  // namespace ringside::cli
