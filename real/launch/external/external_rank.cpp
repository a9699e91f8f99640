#include "real/launch/external/external_rank.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/external/meeting.hpp"
#include "real/launch/external/preflight.hpp"
#include "real/launch/rank_tuning.hpp"
#include "real/launch/ranks.hpp"
#include "real/store/tcp_store.hpp"
#include "real/store/tcp_store_server.hpp"
#include "real/system/this_machine.hpp"

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

class ExternalRanks final : public Ranks {
 public:
  ExternalRanks(const ExternalRank& external, const LaunchOptions& options, const std::string& purpose) {
    const bool meet_by_themselves = registered(options.backend).needs_launcher;
    const std::string rendezvous = options.rendezvous.value_or(
        !meet_by_themselves && tcp_store_place() ? std::string(kEnvironmentRendezvous) : "");
    if (rendezvous.empty() && !meet_by_themselves) {
      throw bad_input(
          "{} started this process as rank {} of {}; tell all of them where to meet, with "
          "--rendezvous file:///a/directory/that/all/see or redis://host:port, or set MASTER_ADDR "
          "and MASTER_PORT",
          external.launcher, external.rank, external.num_ranks);
    }
    // A lost peer is an error to report, not a reason to die.
    ::signal(SIGPIPE, SIG_IGN);
    const std::string group =
        fmt::format("ringside-{}-{}", external.job.empty() ? "run" : external.job, purpose);
    RankPlace place = {.backend = options.backend,
                       .rank = external.rank,
                       .num_ranks = external.num_ranks,
                       .local_rank = external.local_rank,
                       .gpu = options.gpu,
                       .timeout = options.timeout,
                       .interface = options.interface,
                       .rendezvous = rendezvous,
                       .group = group};
    std::optional<TcpStoreServer> server;
    // A folder of this group's own can be removed as a whole.
    std::filesystem::path folder;
    if (rendezvous == kEnvironmentRendezvous) {
      if (const TcpStorePlace store = place_of_environment(); !store.served && external.rank == 0) {
        server.emplace(store.port);
      }
      place.group += '/' + agree_on_name(*meeting_store(group, options.timeout), place);
    } else if (rendezvous.starts_with("file://")) {
      folder = folder_of_rendezvous(rendezvous) / group;
      place.rendezvous = "file://" + (folder / agree_on_name(*meeting_folder(folder), place)).string();
    }
    backend_ = join_ranks(place);
    coordination_ = std::make_unique<Coordination>(*backend_.transport);
    coordination_->barrier();
    if (!folder.empty() && external.rank == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
    server.reset();
    // All wait for rank 0: nobody starts another group before this one's directory and server are gone.
    hosts_ = coordination_->texts(this_machine().host);
    backend_.sockets = sockets_of_ranks(*coordination_);
    if (static bool looked = false; !std::exchange(looked, true)) {
      for (const std::string& remark :
           preflight(*coordination_, options.backend, hosts_, backend_.sockets, options.interface)) {
        if (external.rank == 0 && options.remark) {
          options.remark(remark);
        }
      }
    }
    if (options.tune_machine) {
      // Who has placed the ranks has bound them, too, where that was wanted.
      RankTuning().tune(*coordination_, backend_);
    }
  }

  std::string run(const Task& task) override {
    try {
      return task.kind.run(task.request, backend_, *coordination_);
    } catch (const PeerLost& lost) {
      throw PeerLost(lost.peer(), lost.how(),
                     fmt::format("{}; rank {} is on {}", lost.what(), lost.peer(), hosts_[at(lost.peer())]));
    }
  }
  double agree(double value) override { return coordination_->maximum(std::span(&value, 1)).front(); }

 private:
  RankBackend backend_;
  std::unique_ptr<Coordination> coordination_;
  std::vector<std::string> hosts_;
};

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
      throw bad_input(
          "the environment says {}={} and {}={}, which is no rank; unset them to let ringside start "
          "its own ranks",
          launcher.rank, std::getenv(launcher.rank), launcher.num_ranks, std::getenv(launcher.num_ranks));
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

std::unique_ptr<Ranks> join_external(const ExternalRank& external, const LaunchOptions& options,
                                     const std::string& purpose) {
  return std::make_unique<ExternalRanks>(external, options, purpose);
}

}  // namespace ringside
