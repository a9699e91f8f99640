#include "study/ranks/launch.hpp"

#include <fmt/format.h>

#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/external/external_rank.hpp"

namespace ringside::study {
namespace {

/// Ranks behind a wrap, or started by somebody else, may be on other hosts.
bool all_ranks_are_here(const LaunchChoices& choices) {
  return !choices.ranks.wrap && !external_rank().has_value();
}

/// Ranks of some backends are started and brought together by mpirun or srun alone.
void require_launcher(Backend backend, int num_ranks, const LaunchChoices& choices) {
  if (!registered(backend).needs_launcher) {
    return;
  }
  if (!external_rank(true)) {
    throw lacking(
        "ranks of {0} are started by mpirun or srun; put one in front: `mpirun -n {1} "
        "ringside measure …`",
        name(backend), num_ranks);
  }
  if (choices.ranks.rendezvous || choices.ranks.interface) {
    throw bad_key("{}: has no effect with {}: its launcher decides it",
                  choices.ranks.rendezvous ? "rendezvous" : "interface", name(backend));
  }
}

}  // namespace

LaunchOptions launch_options(const LaunchChoices& choices, Backend backend, const Software& software) {
  LaunchOptions options = choices.ranks;
  options.backend = backend;
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
    if (const std::optional<std::string> reason = registered(asked).unavailable()) {
      throw lacking("backend {} cannot run here: {}", name(asked), *reason);
    }
    require_launcher(asked, request.max_ranks, choices);
    return asked;
  }
  const BackendChoice choice =
      choose_backend(request.max_ranks, choices.ranks.gpu.ranks_per_gpu,
                     all_ranks_are_here(choices) && !choices.ranks.interface && !choices.ranks.rendezvous);
  const RegisteredBackend& backend = registered(choice.backend);
  if (const std::optional<std::string> none = backend.unavailable()) {
    throw lacking("no backend can run here: {}; {}", *none, choice.why_not);
  }
  observer.note(fmt::format(
      "Measuring with {} ({}){}.", name(choice.backend), backend.describe(),
      choice.instead_of ? fmt::format("; not with {}: {}", name(*choice.instead_of), choice.why_not) : ""));
  return choice.backend;
}

namespace {

bool has_gpu_links(const Machine& machine) {
  return machine.gpu || (machine.intra && machine.intra->kind != IntraKind::custom);
}

/// What makes it another machine than the one that measures; nothing when it may be this one.
std::optional<std::string> why_not_this(const Machine& described, Backend backend,
                                        const LaunchChoices& choices) {
  const bool here = all_ranks_are_here(choices);
  const bool gpus = has_gpu_links(described) || (here && described.gpus_per_node);
  if (gpus && !registered(backend).on_gpus) {
    return fmt::format("has GPUs, and {} measures with CPU ranks", name(backend));
  }
  if (described.nodes > 1 && here) {
    return fmt::format(
        "has {} nodes, and all ranks would be started on this one (mpirun, srun, torchrun or a wrap start "
        "them elsewhere)",
        described.nodes);
  }
  return std::nullopt;
}

}  // namespace

void require_this_machine(const Machine& described, Backend backend, const LaunchChoices& choices) {
  if (const std::optional<std::string> why = why_not_this(described, backend, choices)) {
    throw lacking(
        "what is measured here is not machine '{}': it {}. `ringside predict` predicts it, "
        "`measured:` takes what somebody measured there, and `machine: this` measures this "
        "machine",
        described.name, *why);
  }
}

}  // namespace ringside::study
