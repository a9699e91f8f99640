#pragma once

#include <optional>
#include <vector>

#include "results/point.hpp"
#include "study/inputs/invocation.hpp"
#include "study/logs/check.hpp"
#include "study/ranks/launch.hpp"
#include "study/ranks/observer.hpp"

/// `ringside check --live`: runs what can be run on this machine, and judges it.
namespace ringside::study {

struct LiveRequest {
  CheckRequest check = {};
  LaunchChoices launch = {};
  std::optional<Bytes> max_bytes = {};  ///< The largest message; none: 1 GiB on GPUs, 16 MiB on CPUs.
};

struct LiveCheck {
  Backend backend = Backend::gloo;
  /// On GPUs: NCCL's own all_reduce beside such machines.
  std::vector<LogCheck> checks = {};
  /// On CPUs, of which no population is published: measured, with what this machine's own probes say of them.
  std::vector<Point> points = {};
};

/// Its backend: GPUs if there are two or more, otherwise CPUs. Throws Error{environment} for one not here.
Backend live_backend(const LiveRequest& request, const Observer& observer);
/// Whether anybody has published what such ranks take: those on GPUs.
bool has_population(Backend backend);

/// Runs for some ten seconds. None where this process is another rank than 0 of mpirun, srun or torchrun.
/// Throws as compare() and LogChecker do; a wrong result is a measurement like others.
std::optional<LiveCheck> check_live(const LiveRequest& request, const Invocation& invocation,
                                    const Observer& observer);

}  // namespace ringside::study
