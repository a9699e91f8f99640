#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "real/launch/launch_options.hpp"
#include "results/codec/record.hpp"
#include "scenario/scenario.hpp"

namespace ringside::study {

/// What every study is given.
struct Invocation {
  std::optional<std::filesystem::path> output;  ///< None = out/<name of what is studied>.
  std::uint64_t seed = 1;                       ///< Seed of the input values.
  std::string command_line;                     ///< As typed, for the run record.
};

/// The CPU of this machine, as a machine's description names it; none where the system does not tell.
std::optional<Cpu> cpu_here();

/// A name as that of a file or folder: what a shell would have to quote becomes a dash.
std::string folder_name(const std::string& name);

/// The directory that takes the results of `name`, made if need be and known to be writable before any work
/// is done. Throws Error{bad_input}.
std::filesystem::path output_directory(const Invocation& invocation, const std::string& name);

/// The first line of a journal about `name`, without machine and host.
RunHeader plain_header(const Invocation& invocation, const ScenarioRecord& scenario);

/// `machine` is none when this machine was not calibrated; `launch` is set when ranks are started here.
RunHeader run_header(const Invocation& invocation, const Scenario& scenario,
                     const std::optional<Machine>& machine, const LaunchOptions* launch = nullptr);

}  // namespace ringside::study
