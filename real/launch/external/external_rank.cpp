#include "real/launch/external/external_rank.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

/// What a launcher tells each rank through its environment.
struct Launcher {
  const char* name;
  const char* rank;
  const char* num_ranks;
  const char* local_rank;
  const char* num_local;
  const char* job;
  const char* step = nullptr;  ///< Tells the runs of a job apart.
};

constexpr const char* kSlurmLocal = "SLURM_LOCALID";
constexpr const char* kSlurmNumLocal = "SLURM_STEP_TASKS_PER_NODE";

// Inner ones first: Open MPI or torchrun under Slurm has what both say.
// Sources: Open MPI FAQ "environment variables that Open MPI sets at run time"; MPICH's Hydra (PMI-1);
// srun(1), "output environment variables"; PyTorch's torchrun, "environment variables".
constexpr std::array kLaunchers = {
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
             "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    Launcher{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID"},
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    // A batch script sees SLURM_PROCID and SLURM_NTASKS, too: only srun's ranks have a step.
    Launcher{"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", kSlurmLocal, kSlurmNumLocal, "SLURM_JOB_ID",
             "SLURM_STEP_ID"},
};

/// None where it is not set, or to something else.
std::optional<int> whole_number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : parse_number<int>(text);
}

/// 2 of "2(x3),1", which are ranks of each node.
std::optional<int> first_number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : parse_number<int>(std::string(text, std::strcspn(text, "(,")));
}

}  // namespace

std::optional<int> ranks_per_node(const ExternalRank& external) {
  const bool several = external.num_local > 1 && external.num_local < external.num_ranks;
  return several ? std::optional(external.num_local) : std::nullopt;
}

std::optional<ExternalRank> external_rank(bool only_rank) {
  for (const Launcher& launcher : kLaunchers) {
    if (std::getenv(launcher.rank) == nullptr || std::getenv(launcher.num_ranks) == nullptr) {
      continue;
    }
    const std::optional<int> rank = whole_number(launcher.rank);
    const std::optional<int> num_ranks = whole_number(launcher.num_ranks);
    if (!rank || !num_ranks || *rank < 0 || *rank >= *num_ranks) {
      throw Error(
          ErrorKind::bad_input,
          fmt::format(
              "the environment says {}={} and {}={}, which is no rank; unset them to let ringside start "
              "its own ranks",
              launcher.rank, std::getenv(launcher.rank), launcher.num_ranks,
              std::getenv(launcher.num_ranks)));
    }
    if (*num_ranks == 1 && !only_rank) {
      return std::nullopt;
    }
    // srun --mpi=pmi2 says it as Slurm does.
    const std::optional<int> own = whole_number(launcher.local_rank);
    const std::optional<int> local_rank = own ? own : whole_number(kSlurmLocal);
    const std::optional<int> beside = first_number(launcher.num_local);
    const std::optional<int> num_local = beside ? beside : first_number(kSlurmNumLocal);
    const char* job = std::getenv(launcher.job);
    const char* step = launcher.step == nullptr ? nullptr : std::getenv(launcher.step);
    return ExternalRank{
        .rank = *rank,
        .num_ranks = *num_ranks,
        // A launcher that does not tell has all its ranks on one machine, as far as anybody can see.
        .local_rank = local_rank.value_or(*rank),
        .num_local = std::clamp(num_local.value_or(*num_ranks), 1, *num_ranks),
        .launcher = launcher.name,
        .job = std::string(job != nullptr ? job : "") + (step != nullptr ? std::string(".") + step : "")};
  }
  return std::nullopt;
}

}  // namespace ringside
