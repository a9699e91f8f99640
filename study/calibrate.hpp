#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/units.hpp"
#include "real/launch/launch_options.hpp"
#include "real/probe/probe.hpp"
#include "scenario/scenario.hpp"
#include "study/inputs/invocation.hpp"
#include "study/ranks/launch.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

struct CalibrateRequest {
  std::optional<std::filesystem::path> machine = {};  ///< The machine file that the numbers are added to.
  std::vector<int> ranks = {2, 4};                    ///< That exchange with their neighbours at once.
  bool pairs = false;  ///< Also every pair of the most ranks, as GPU ranks always do.
  Bytes max_bytes = ProbeOptions{}.max_bytes;
  LaunchChoices launch = {};
};

struct Calibration {
  Machine machine;
  std::filesystem::path file;  ///< That was written.
};

/// Probes this machine with every number of ranks, fits α, β and γ, and writes the machine file. Throws Error{bad_input}
/// for fewer than 2 ranks.
Calibration calibrate(const CalibrateRequest& options, const Invocation& invocation,
                      const Observer& observer);

/// The scenario's machine, or this one, calibrated into `directory`/machine.yaml.
Machine machine_of(const Scenario& scenario, const LaunchChoices& choices,
                   const std::filesystem::path& directory, const Observer& observer);

/// As one of the other ranks of mpirun, srun or torchrun: the probes of rank 0's machine_of().
void take_part_in_calibration(const Scenario& scenario, const LaunchChoices& choices,
                              const LaunchOptions& launch);

}  // namespace ringside::study
