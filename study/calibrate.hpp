#pragma once

#include <filesystem>
#include <optional>
#include <span>
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
  Bytes max_bytes{64LL << 20};
  LaunchChoices launch = {};
};

/// What is probed here, and for whom.
struct ProbeRequest {
  ProbeOptions options = {};
  std::filesystem::path file = {};        ///< The machine file that is written.
  std::optional<Machine> described = {};  ///< What to add the numbers to.
  Software software = {};                 ///< What the ranks get, when nothing is described.
};

/// Six repetitions with ranks started anew, where there are ten seconds or more for them.
ProbeOptions probe_options(LaunchOptions launch, Seconds budget, std::vector<int> ranks, Bytes max_bytes);

/// No message is larger than the scenario's largest, and beyond some size time only grows in proportion: 1
/// MiB at least, and no more than probes have by default.
Bytes largest_probe(const Scenario& scenario, Backend backend);

/// Whether probes are made again because they contradict each other. Whoever started ranks from outside has
/// told all of them how often there are probes.
bool probes_again(std::span<const ProbeSample> samples);

/// What the kernel knows of the load over two spells of so many seconds.
Disturbance mean_load(const Disturbance& before, double seconds_before, const Disturbance& now,
                      double seconds);

struct Calibration {
  Machine machine;
  std::filesystem::path file;  ///< That was written.
};

/// Probes this machine with every number of ranks, fits α, β, γ, and writes the machine file. Ranks above 0
/// of another launcher take part, and nothing comes back. Throws Error{bad_input} for fewer than 2 ranks.
std::optional<Calibration> calibrate(const CalibrateRequest& options, const Invocation& invocation,
                                     const Observer& observer);

/// The scenario's machine, or this one, calibrated into `directory`/machine.yaml.
Machine machine_of(const Scenario& scenario, const LaunchChoices& choices,
                   const std::filesystem::path& directory, const Observer& observer);

/// Calibrates this machine for a scenario bit by bit, so that probes and measurements can alternate: what a
/// machine does now is what it did a minute ago only where nothing else runs on it.
class Calibrator {
 public:
  /// Writes `directory`/machine.yaml.
  Calibrator(const Scenario& scenario, const LaunchChoices& choices, const std::filesystem::path& directory,
             const Observer& observer);
  explicit Calibrator(ProbeRequest request);

  /// Goes over all probes, some times, within this share of the time for calibrating. Probes that contradict
  /// each other are made again, twice at most.
  void probe(double share, const Observer& observer);
  /// What each pair of the most ranks can do alone.
  void probe_pairs(const Observer& observer);
  /// Fitted to all probes so far, and written. Throws as fit_probes() does.
  Machine machine() const;
  /// The same into `machine`. Probes of a busy machine may not say what a byte costs: where they are
  /// `dispensable` that is noted, and false is returned.
  bool describe(Machine& machine, bool dispensable, const Observer& observer) const;

 private:
  ProbeRequest request_;
  std::vector<ProbeSample> samples_;
  std::vector<PairPoint> pairs_;
  Disturbance load_;   ///< What the kernel knows, each as its mean over the spells.
  double probed_ = 0;  ///< Seconds of all spells.
};

/// As one of the other ranks of mpirun, srun or torchrun: the probes of rank 0's machine_of().
void take_part_in_calibration(const Scenario& scenario, const LaunchChoices& choices,
                              const LaunchOptions& launch);

}  // namespace ringside::study
