#pragma once

#include <optional>

#include "common/names.hpp"
#include "common/units.hpp"
#include "real/launch/launch_options.hpp"
#include "scenario/machine/machine.hpp"
#include "study/ranks/observer.hpp"

/// Which ranks are started on this machine, and how.
namespace ringside::study {

struct LaunchChoices {
  LaunchOptions ranks = {};             ///< But for the backend.
  Seconds time_per_point{0.5};          ///< Measure one point for at most this long.
  Seconds calibrate_time{15};           ///< Probe this machine for at most this long.
  std::optional<Backend> backend = {};  ///< Instead of the scenario's.
};

/// `software` is what NCCL gets through its environment.
LaunchOptions launch_options(const LaunchChoices& choices, Backend backend, const Software& software = {});

/// The backend that measures: `choices.backend` counts more than `asked`, and `auto` becomes one that is here
/// for so many ranks, which is noted. Throws Error{environment} for one that this machine or build lacks.
struct BackendRequest {
  Backend asked = Backend::automatic;
  int max_ranks = 2;
};
Backend measuring_backend(const BackendRequest& request, const LaunchChoices& choices,
                          const Observer& observer);

/// Times that are measured here stand under the name of the described machine, so it must be this one. Throws
/// Error{environment} where the description has GPUs and `backend` runs on CPUs, or has several nodes and all
/// ranks would be started on this one.
void require_this_machine(const Machine& described, Backend backend, const LaunchChoices& choices);

}  // namespace ringside::study
