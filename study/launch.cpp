#include "study/launch.hpp"

#include <cmath>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"

namespace ringside::study {

LaunchOptions launch_options(const LaunchChoices& choices, Backend backend, const Software& software) {
  if (choices.timeout.value < 0.1 || choices.timeout.value > 86400) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--timeout {}: allowed is 100 ms to 86400 s", format(choices.timeout)));
  }
  LaunchOptions options;
  options.backend = backend;
  options.timeout = std::chrono::milliseconds(std::llround(choices.timeout.value * 1e3));
  options.wrap = choices.wrap;
  options.interface = choices.interface;
  options.rendezvous = choices.rendezvous;
  options.gpu.ranks_per_gpu = choices.ranks_per_gpu;
  options.tune_machine = choices.tune_machine;
  if (software.nccl_algo) {
    options.gpu.settings.emplace_back("NCCL_ALGO", *software.nccl_algo);
  }
  if (software.nccl_proto) {
    options.gpu.settings.emplace_back("NCCL_PROTO", *software.nccl_proto);
  }
  return options;
}

Backend measuring_backend(const BackendRequest& request, const LaunchChoices& choices,
                          const Observer& observer) {
  const Backend asked = choices.backend.value_or(request.asked);
  if (asked != Backend::automatic) {
    if (const std::optional<std::string> reason = unavailable(asked)) {
      throw Error(ErrorKind::environment,
                  fmt::format("backend {} cannot run here: {}", name(asked), *reason));
    }
    return asked;
  }
  const BackendChoice choice = choose_backend(request.max_ranks, choices.ranks_per_gpu);
  const RegisteredBackend& backend = registered(choice.backend);
  if (const std::optional<std::string> none = backend.unavailable()) {
    throw Error(ErrorKind::environment,
                fmt::format("no backend can run here: {}; {}", *none, choice.why_not));
  }
  observer.note(fmt::format(
      "Measuring with {} ({}){}.", name(choice.backend), backend.describe(),
      choice.instead_of ? fmt::format("; not with {}: {}", name(*choice.instead_of), choice.why_not) : ""));
  return choice.backend;
}

}  // namespace ringside::study
