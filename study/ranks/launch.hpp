#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "real/launch/launch_options.hpp"
#include "scenario/machine/machine.hpp"
#include "study/ranks/observer.hpp"

/// Which ranks are started on this machine, and how.
namespace ringside::study {

struct LaunchChoices {
  Seconds timeout{60};          ///< Timeout of every single wait for a rank; 100 ms to a day.
  Seconds time_per_point{0.5};  ///< Measure one point for at most this long.
  Seconds calibrate_time{15};   ///< Probe this machine for at most this long.
  std::optional<std::string> wrap = {};
  std::optional<std::string> interface = {};
  std::optional<std::string> rendezvous = {};
  std::optional<Backend> backend = {};  ///< Instead of the scenario's.
  int ranks_per_gpu = 1;
  bool tune_machine = true;             ///< As in LaunchOptions.
  std::vector<std::string> given = {};  ///< The flags that were typed, such as `--wrap`.
};

/// What says which ranks are started, and how; how points are measured; how this machine is probed.
inline constexpr std::array<std::string_view, 7> kFlagsOfRanks = {
    "--timeout", "--wrap",          "--interface",        "--rendezvous",
    "--backend", "--ranks-per-gpu", "--no-machine-tuning"};
inline constexpr std::array<std::string_view, 5> kFlagsOfPoints = {"--time-per-point", "--repetitions",
                                                                   "--passes", "--check", "--resume"};
inline constexpr std::array<std::string_view, 1> kFlagsOfProbes = {"--calibrate-time"};
inline constexpr std::string_view kNotProbed = "`machine:` describes the machine, and nothing is probed";

/// Throws Error{bad_input} for the first flag of `given` that is among those that bear on nothing; `why` ends the sentence.
void refuse_idle(const std::vector<std::string>& given, std::span<const std::string_view> idle,
                 std::string_view why);

/// `software` is what NCCL gets through its environment. Throws Error{bad_input} for a timeout out of range.
LaunchOptions launch_options(const LaunchChoices& choices, Backend backend, const Software& software = {});

/// The backend that measures: `choices.backend` counts more than `asked`, and `auto` becomes one that is here for so many
/// ranks, which is noted. Throws Error{environment} for one that this machine or build lacks.
struct BackendRequest {
  Backend asked = Backend::automatic;
  int max_ranks = 2;
};
Backend measuring_backend(const BackendRequest& request, const LaunchChoices& choices,
                          const Observer& observer);

/// Times that are measured here stand under the name of the described machine, so it must be this one. Throws
/// Error{environment} where the description has GPUs and `backend` runs on CPUs, or has several nodes and all ranks
/// would be started on this one.
void require_this_machine(const Machine& described, Backend backend, const LaunchChoices& choices);

}  // namespace ringside::study
