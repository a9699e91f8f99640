#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "common/point_key.hpp"
#include "real/measure.hpp"
#include "real/probe.hpp"
#include "results/journal.hpp"
#include "scenario/scenario.hpp"
#include "sim/predict.hpp"

/// What the commands about a scenario share: from a file to points, and from points to a journal.
namespace ringside::cli {

/// Flags about ranks on this machine, as typed.
struct LaunchFlags {
  std::string timeout = "60 s";
  std::string time_per_point = "0.5 s";
  std::string calibrate_time = "15 s";
  std::optional<std::string> wrap;
  std::optional<std::string> interface;
  std::optional<std::string> rendezvous;
  std::optional<std::string> backend;  ///< Instead of the scenario's.
  int ranks_per_gpu = 1;
};

void add_launch_flags(CLI::App& command, LaunchFlags& flags);
void add_calibrate_flags(CLI::App& command, LaunchFlags& flags);

/// `software` is what NCCL is told through its environment.
LaunchOptions launch_options(const LaunchFlags& flags, Backend backend, const Software& software = {});

/// What scenarios and plans may name: the algorithms of a collective, and `native`.
std::vector<std::string> scenario_algorithms(Collective collective);

Scenario read_scenario(const std::filesystem::path& file);

/// What `measured:` of a scenario holds, of each point the first; the scenario says what the file leaves out.
std::vector<Point> read_measured(const Scenario& scenario, Progress& progress);

/// Every point of a scenario: by ranks, then size, then algorithm, so that drift hits the algorithms alike.
std::vector<PointKey> points_of(const Scenario& scenario);

/// The directory that takes the results of `name`, made if need be and known to be writable before any work is
/// done. Throws Error{bad_input}.
std::filesystem::path output_directory(const CommonOptions& common, const std::string& name);

/// The backend that measures: `--backend` counts more than `asked`, and `auto` becomes one that is here for so many ranks,
/// and says so. Throws Error{environment} for one that this machine or build lacks.
struct BackendRequest {
  Backend asked = Backend::automatic;
  int max_ranks = 2;
};
Backend measuring_backend(const BackendRequest& request, const LaunchFlags& flags, Progress& progress);

/// Probes this machine with every number of ranks, fits α, β and γ, and writes the machine file.
struct CalibrateRequest {
  LaunchOptions launch;
  Seconds budget;
  std::vector<int> ranks;
  std::filesystem::path file;
  Bytes max_bytes = ProbeOptions{}.max_bytes;
  std::optional<Machine> described = {};  ///< What to add the numbers to.
  bool pairs = false;                     ///< Also every pair of the most ranks.
  Software software = {};                 ///< What the ranks are told, when nothing is described.
};
Machine calibrate(const CalibrateRequest& request, Progress& progress);

/// The scenario's machine, or this one, calibrated into `directory`/machine.yaml.
Machine machine_of(const Scenario& scenario, const LaunchFlags& flags, const std::filesystem::path& directory,
                   Progress& progress);

/// As one of the other ranks of mpirun, srun or torchrun: the probes of rank 0's machine_of().
void take_part_in_calibration(const Scenario& scenario, const LaunchFlags& flags,
                              const LaunchOptions& launch);

/// How the ranks stand on the scenario's machine, for every number of ranks; none on this machine.
std::map<int, RankPlacement> placements_of(const Scenario& scenario);

/// `machine` is none when this machine was not calibrated (measure).
RunHeader run_header(const CommonOptions& common, const Scenario& scenario,
                     const std::optional<Machine>& machine, const LaunchOptions* launch = nullptr);

/// Prices the points that have no prediction yet. `report` is called for each; a point that cannot be predicted keeps
/// none, and the reasons are noted once each.
void predict_points(std::vector<Point>& points, const Machine& machine, const PredictOptions& options,
                    Progress& progress);

/// Measures the points that have no measurement yet, writing each to the journal as it is known.
void measure_points(std::vector<Point>& points, const MeasureOptions& options, Journal& journal,
                    Progress& progress);

/// Prints a file of JSON Lines as it is.
void print_file(const std::filesystem::path& file);

}  // namespace ringside::cli
