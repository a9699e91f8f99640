#include "study/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/fit.hpp"
#include "analysis/repetitions.hpp"
#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/nccl/settings.hpp"
#include "real/launch/ranks.hpp"
#include "real/system/other_load.hpp"
#include "real/system/this_machine.hpp"
#include "results/journal.hpp"

namespace ringside::study {
namespace {

/// Probes are repeated with ranks started anew: from one start to the next small messages move by up to 2×,
/// and what else runs here disturbs one repetition and not the next.
constexpr int kRepetitions = 6;
constexpr Seconds kBudgetOfRepetitions{10};
/// A share of the time in which probes that contradict each other are made again, and how often.
constexpr double kShareOfCorrection = 0.25;
constexpr int kMostCorrections = 2;
/// Where there would be no answer at all they are made more often, each time for twice as long: on a busy
/// machine a short calibration may see nothing but waiting.
constexpr int kMostAttempts = 5;
constexpr Seconds kFirstAttempt{0.5};

/// What is known of this machine without probing it.
Machine machine_here(const ProbeRequest& request) {
  Machine machine;
  machine.name = "this machine";
  machine.cpu = cpu_here();
  machine.software = request.software;
  const RegisteredBackend& backend = registered(request.options.launch.backend);
  if (backend.software != nullptr && !(machine.software.*backend.software)) {
    machine.software.*backend.software = backend.library_version();
  }
  if (!backend.on_gpus) {
    return machine;
  }
  const GpuMachine gpus = gpu_machine();
  if (gpus.nccl_version && !machine.software.nccl) {
    machine.software.nccl = nccl_version_text(*gpus.nccl_version);
  }
  if (!gpus.gpus.empty()) {
    machine.name = fmt::format("this machine, {} × {}", gpus.gpus.size(), gpus.gpus.front().model);
  }
  if (request.options.launch.gpu.ranks_per_gpu > 1) {
    machine.name += fmt::format(", {} ranks on each", request.options.launch.gpu.ranks_per_gpu);
  } else {
    machine.gpus_per_node = static_cast<int>(gpus.gpus.size());
  }
  return machine;
}

/// Cores that all ranks share: a launcher may have bound each to some, and started them on several machines.
int cores_of_ranks() {
  const std::optional<ExternalRank> external = external_rank();
  return external ? this_machine().all_cores *
                        ((external->num_ranks + external->num_local - 1) / external->num_local)
                  : this_machine().cores;
}

ProbeRequest request_of(const Scenario& scenario, const LaunchChoices& choices,
                        const std::filesystem::path& directory, const Observer& observer) {
  const int max_ranks = *std::ranges::max_element(scenario.ranks);
  const Backend backend =
      measuring_backend({.asked = scenario.backend, .max_ranks = max_ranks}, choices, observer);
  return {.options = probe_options(launch_options(choices, backend, scenario.software),
                                   choices.calibrate_time, scenario.ranks, largest_probe(scenario, backend)),
          .file = directory / "machine.yaml",
          .software = scenario.software};
}

}  // namespace

Bytes largest_probe(const Scenario& scenario, Backend backend) {
  // Through memory they are fast, and longer ones leave the caches.
  const Bytes largest = *std::ranges::max_element(scenario.message_sizes);
  const int factor = registered(backend).reduces_on_arrival ? 2 : 1;
  return std::clamp(largest, Bytes{1 << 20}, Bytes{factor * ProbeOptions{}.max_bytes.value});
}

ProbeOptions probe_options(LaunchOptions launch, Seconds budget, std::vector<int> ranks, Bytes max_bytes) {
  return {.launch = std::move(launch),
          .budget = budget,
          .ranks = std::move(ranks),
          .max_bytes = max_bytes,
          .repetitions = budget >= kBudgetOfRepetitions ? kRepetitions : 1};
}

bool probes_again(std::span<const ProbeSample> samples) { return !external_rank() && contradiction(samples); }

/// A machine on which others use more than this share of the cores is not quiet.
constexpr double kDisturbingLoad = 0.25;

Disturbance mean_load(const Disturbance& before, double seconds_before, const Disturbance& now,
                      double seconds) {
  const auto mean = [&](double Disturbance::*value) {
    return (before.*value * seconds_before + now.*value * seconds) / (seconds_before + seconds);
  };
  return {.other_load = mean(&Disturbance::other_load),
          .stolen = mean(&Disturbance::stolen),
          .throttled = mean(&Disturbance::throttled)};
}

Calibrator::Calibrator(ProbeRequest request) : request_(std::move(request)) {}

Calibrator::Calibrator(const Scenario& scenario, const LaunchChoices& choices,
                       const std::filesystem::path& directory, const Observer& observer)
    : Calibrator(request_of(scenario, choices, directory, observer)) {}

void Calibrator::probe(double share, const Observer& observer) {
  ProbeOptions options = request_.options;
  const OtherLoad load;
  const auto spell = [&](std::string_view stage, Seconds budget) {
    observer.stage(stage);
    options.budget = budget;
    const std::vector<ProbeSample> found = ringside::probe(options, observer.progress);
    samples_.insert(samples_.end(), found.begin(), found.end());
    observer.finished();
  };
  options.repetitions = std::max(1, static_cast<int>(std::lround(share * options.repetitions)));
  spell("calibrating this machine", share * request_.options.budget);
  options.repetitions = 1;
  for (int i = 0; i < kMostCorrections && probes_again(samples_); ++i) {
    spell("calibrating again, for the probes contradict each other",
          kShareOfCorrection * share * request_.options.budget);
  }
  Seconds attempt = kFirstAttempt;
  for (int i = 0; i < kMostAttempts && !external_rank() && !cost_per_byte(samples_); ++i) {
    spell("calibrating again, for large messages took no longer than small ones", attempt);
    attempt = 2 * attempt;
  }
  const double seconds = load.elapsed().count();
  load_ = mean_load(
      load_, probed_,
      {.other_load = load.cores_used(), .stolen = load.cores_stolen(), .throttled = load.cores_throttled()},
      seconds);
  probed_ += seconds;
}

Machine Calibrator::machine() const {
  Machine machine = request_.described.value_or(machine_here(request_));
  machine.calibrated = fit_probes(samples_);
  Calibrated& calibrated = *machine.calibrated;
  const std::optional<ExternalRank> external = external_rank(request_.options.launch);
  if (calibrated.between_nodes && external && !request_.described) {
    machine.name = "this cluster";
    machine.gpus_per_node = external->num_local;
  }
  const bool take_cores = registered(request_.options.launch.backend).ranks_take_cores();
  const Disturbance slow = disturbance(samples_).value_or(Disturbance{});
  // Ranks of a launcher are others to each other.
  if (slow.share > 0 ||
      (take_cores && !external && load_.other_load > kDisturbingLoad * this_machine().cores)) {
    calibrated.disturbance = load_;
    calibrated.disturbance->share = slow.share;
    calibrated.disturbance->slower = slow.slower;
  }
  calibrated.pairs = pairs_;
  calibrated.backend = name(request_.options.launch.backend);
  if (take_cores && !request_.options.launch.wrap && !calibrated.between_nodes) {
    // Ranks behind a wrap may be anywhere; ranks of our own share the cores of this machine.
    calibrated.cores = cores_of_ranks();
    calibrated.machine_tuning = request_.options.launch.tune_machine && !external_rank();
  }
  write_file(request_.file, to_yaml(machine));
  return machine;
}

bool Calibrator::describe(Machine& machine, bool dispensable, const Observer& observer) const {
  try {
    machine = this->machine();
    return true;
  } catch (const Error& error) {
    if (!dispensable || error.kind() != ErrorKind::failed) {
      throw;
    }
    observer.note(fmt::format("No prediction: {}.", error.what()));
    return false;
  }
}

void Calibrator::probe_pairs(const Observer& observer) {
  observer.stage("probing every pair of ranks");
  pairs_ = pair_matrix(ringside::probe_pairs(request_.options, observer.progress));
  observer.finished();
}

std::optional<Calibration> calibrate(const CalibrateRequest& options, const Invocation& invocation,
                                     const Observer& observer) {
  if (std::ranges::any_of(options.ranks, [](int ranks) { return ranks < 2; })) {
    throw bad_key("ranks: probes need at least 2 ranks");
  }
  std::optional<Machine> described;
  if (options.machine) {
    described = load_machine(*options.machine);
  }
  const int max_ranks = *std::ranges::max_element(options.ranks);
  const Backend backend = measuring_backend({.max_ranks = max_ranks}, options.launch, observer);
  if (described) {
    require_this_machine(*described, backend, options.launch);
  }
  const ProbeOptions probes = probe_options(launch_options(options.launch, backend),
                                            options.launch.calibrate_time, options.ranks, options.max_bytes);
  const bool pairs = options.pairs || registered(backend).on_gpus;
  if (const auto external = external_rank(); external && external->rank != 0) {
    const ProbeProgress in_silence = [](double, std::string_view) {};
    probe(probes, in_silence);
    if (pairs) {
      probe_pairs(probes, in_silence);
    }
    return std::nullopt;
  }
  const std::filesystem::path folder =
      output_directory(invocation, described ? described->name : std::string("this-machine"));
  const FolderLock lock(folder);
  const std::filesystem::path file = folder / "machine.yaml";
  Calibrator calibrator(ProbeRequest{.options = probes, .file = file, .described = described});
  calibrator.probe(1, observer);
  if (pairs) {
    calibrator.probe_pairs(observer);
  }
  return Calibration{.machine = calibrator.machine(), .file = file};
}

Machine machine_of(const Scenario& scenario, const LaunchChoices& choices,
                   const std::filesystem::path& directory, const Observer& observer) {
  if (scenario.machine) {
    return *scenario.machine;
  }
  const FolderLock lock(directory);
  Calibrator calibrator(scenario, choices, directory, observer);
  calibrator.probe(1, observer);
  return calibrator.machine();
}

void take_part_in_calibration(const Scenario& scenario, const LaunchChoices& choices,
                              const LaunchOptions& launch) {
  probe(
      probe_options(launch, choices.calibrate_time, scenario.ranks, largest_probe(scenario, launch.backend)),
      [](double, std::string_view) {});
}

}  // namespace ringside::study
