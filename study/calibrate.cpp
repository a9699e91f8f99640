#include "study/calibrate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/fit.hpp"
#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/nccl/settings.hpp"
#include "real/launch/external/external_rank.hpp"
#include "real/system/this_machine.hpp"
#include "study/inputs/invocation.hpp"

namespace ringside::study {
namespace {

struct ProbeRequest {
  LaunchOptions launch;
  Seconds budget;
  std::vector<int> ranks;
  std::filesystem::path file;
  Bytes max_bytes = ProbeOptions{}.max_bytes;
  std::optional<Machine> described = {};  ///< What to add the numbers to.
  bool pairs = false;                     ///< Also every pair of the most ranks.
  Software software = {};                 ///< What the ranks get, when nothing is described.
};

/// Probes are repeated with ranks started anew: from one start to the next small messages move by up to 2×.
constexpr int kRepetitions = 3;
constexpr Seconds kBudgetOfRepetitions{10};

/// What is known of this machine without probing it.
Machine machine_here(const ProbeRequest& request) {
  Machine machine;
  machine.name = "this machine";
  machine.software = request.software;
  if (!registered(request.launch.backend).on_gpus) {
    return machine;
  }
  const GpuMachine gpus = gpu_machine();
  if (gpus.nccl_version && !machine.software.nccl) {
    machine.software.nccl = nccl_version_text(*gpus.nccl_version);
  }
  if (!gpus.gpus.empty()) {
    machine.name = fmt::format("this machine, {} × {}", gpus.gpus.size(), gpus.gpus.front().model);
  }
  if (request.launch.gpu.ranks_per_gpu > 1) {
    machine.name += fmt::format(", {} ranks on each", request.launch.gpu.ranks_per_gpu);
  } else {
    machine.gpus_per_node = static_cast<int>(gpus.gpus.size());
  }
  return machine;
}

/// No message is larger than the scenario's largest, and beyond some size time only grows in proportion.
Bytes largest_probe(const Scenario& scenario) {
  const Bytes largest = *std::max_element(scenario.message_sizes.begin(), scenario.message_sizes.end());
  return std::clamp(largest, Bytes{1 << 20}, ProbeOptions{}.max_bytes);
}

Machine probe_machine(const ProbeRequest& request, const Observer& observer) {
  observer.stage("calibrating this machine");
  ProbeOptions options;
  options.launch = request.launch;
  options.budget = request.budget;
  options.ranks = request.ranks;
  options.max_bytes = request.max_bytes;
  options.repetitions = request.budget >= kBudgetOfRepetitions ? kRepetitions : 1;
  const std::vector<ProbeSample> samples = probe(options, observer.progress);
  observer.finished();

  Machine machine = request.described.value_or(machine_here(request));
  machine.calibrated = fit_probes(samples);
  if (request.pairs) {
    observer.stage("probing every pair of ranks");
    machine.calibrated->pairs = pair_matrix(probe_pairs(options, observer.progress));
    observer.finished();
  }
  machine.calibrated->backend = name(request.launch.backend);
  if (registered(request.launch.backend).ranks_take_cores() && !request.launch.wrap) {
    // Ranks behind a wrap may be anywhere; ranks of our own share the cores of this machine.
    machine.calibrated->cores = this_machine().cores;
    machine.calibrated->machine_tuning = request.launch.tune_machine && !external_rank();
  }
  write_file(request.file, to_yaml(machine));
  return machine;
}

}  // namespace

Calibration calibrate(const CalibrateRequest& options, const Invocation& invocation,
                      const Observer& observer) {
  if (std::any_of(options.ranks.begin(), options.ranks.end(), [](int ranks) { return ranks < 2; })) {
    throw Error(ErrorKind::bad_input, "--ranks: probes need at least 2 ranks");
  }
  std::optional<Machine> described;
  if (options.machine) {
    described = load_machine(*options.machine);
  }
  const int max_ranks = *std::max_element(options.ranks.begin(), options.ranks.end());
  const Backend backend = measuring_backend({.max_ranks = max_ranks}, options.launch, observer);
  if (described) {
    require_this_machine(*described, backend, options.launch);
  }
  const std::filesystem::path file =
      output_directory(invocation, described ? described->name : std::string("this-machine")) /
      "machine.yaml";
  return {.machine = probe_machine({.launch = launch_options(options.launch, backend),
                                    .budget = options.launch.calibrate_time,
                                    .ranks = options.ranks,
                                    .file = file,
                                    .max_bytes = options.max_bytes,
                                    .described = described,
                                    .pairs = options.pairs || registered(backend).on_gpus},
                                   observer),
          .file = file};
}

Machine machine_of(const Scenario& scenario, const LaunchChoices& choices,
                   const std::filesystem::path& directory, const Observer& observer) {
  if (scenario.machine) {
    return *scenario.machine;
  }
  const int max_ranks = *std::max_element(scenario.ranks.begin(), scenario.ranks.end());
  const Backend backend =
      measuring_backend({.asked = scenario.backend, .max_ranks = max_ranks}, choices, observer);
  return probe_machine({.launch = launch_options(choices, backend, scenario.software),
                        .budget = choices.calibrate_time,
                        .ranks = scenario.ranks,
                        .file = directory / "machine.yaml",
                        .max_bytes = largest_probe(scenario),
                        .software = scenario.software},
                       observer);
}

void take_part_in_calibration(const Scenario& scenario, const LaunchChoices& choices,
                              const LaunchOptions& launch) {
  ProbeOptions options;
  options.launch = launch;
  options.budget = choices.calibrate_time;
  options.ranks = scenario.ranks;
  probe(options, [](double, std::string_view) {});
}

}  // namespace ringside::study
