#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/names.hpp"
#include "real/backend/rank_place.hpp"
#include "real/execute/rank_backend.hpp"
#include "results/point.hpp"
#include "scenario/machine/machine.hpp"
#include "schedule/schedule.hpp"

/// The backends there are, one row each. Outside real/backend the row is asked, not the name.
namespace ringside {

struct RegisteredBackend {
  Backend backend = Backend::automatic;
  /// Why this build or machine cannot run its ranks at all; nothing when it can.
  std::optional<std::string> (*unavailable)() = [] { return std::optional<std::string>(); };
  /// Why it has no collective of its own for a point; null where it has none at all.
  std::optional<std::string> (*native_unsupported)(const PointKey& key) = nullptr;
  /// Why it runs a point by no algorithm; null where nothing keeps it but the arithmetic of its ranks.
  std::optional<std::string> (*unsupported)(const PointKey& key) = nullptr;
  /// Connects this process, as one rank, to the others. Throws Error{environment} when a need (interface,
  /// rendezvous, a GPU) is of no use, and PeerLost or Error{peer_lost} when the others do not come in time.
  RankBackend (*join)(const RankPlace& place) = nullptr;
  /// What its ranks are, in a few words for people; only of an available backend.
  std::string (*describe)() = [] { return std::string(); };
  /// Version of the library that its ranks talk through, as this build has it; null where nobody asks. Only
  /// of an available backend.
  std::string (*library_version)() = nullptr;

  bool ranks_are_threads =
      false;  ///< Threads of one process, which nobody joins; otherwise every rank is a process.
  /// A rank takes a GPU, and a call is one piece of work of it. A process that has asked for GPUs cannot fork
  /// ranks that join any more; a copy of it may ask.
  bool on_gpus = false;
  bool reduces_on_arrival = false;  ///< Its transport reduces a message while it receives it.
  /// Its ranks are processes of mpirun or srun, which also tell them how to meet: ringside starts none.
  bool needs_launcher = false;
  /// Its own collectives move data otherwise than its transport does, and so can a second one.
  bool library_transport = false;
  /// Where a machine says which library this is, if its own collectives are predicted by that.
  std::optional<std::string> Software::*software = nullptr;

  /// Whether its ranks are processes on cores, which may be shared out among those of one machine.
  bool ranks_take_cores() const { return !on_gpus && !ranks_are_threads; }
};

// Each folder's row, in every build.
RegisteredBackend gloo_backend();
RegisteredBackend nccl_backend();
RegisteredBackend shm_backend();
RegisteredBackend mpi_backend();
RegisteredBackend threads_backend();

/// In the order in which people are shown them.
std::span<const RegisteredBackend> all_backends();

/// The row of a backend; `automatic` is the one that every build has.
const RegisteredBackend& registered(Backend backend);

/// `automatic` becomes the backend that every build has.
Backend resolve(Backend backend);

/// What is measured with where nobody has named a backend.
struct BackendChoice {
  Backend backend = Backend::automatic;
  std::optional<Backend> instead_of = {};  ///< The backend on GPUs, when it cannot run here …
  std::string why_not = {};                ///< … and why.
};

/// GPUs when there are enough for so many ranks, CPUs otherwise: through memory where all ranks are `here`.
BackendChoice choose_backend(int num_ranks, int ranks_per_gpu, bool here);

/// Why `backend` cannot run this point, if so. Throws Error{bad_input} for an unknown algorithm.
std::optional<std::string> unsupported(const PointKey& key, Backend backend,
                                       const RankPlacement& placement = {});

/// Why a library that wants parts of equal size does not run this point; nothing where it does.
std::optional<std::string> unequal_parts(std::string_view library, const PointKey& key);

/// As the backend's row does. Throws Error{environment} where it is not available.
RankBackend join_ranks(const RankPlace& place);

}  // namespace ringside
