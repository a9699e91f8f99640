#include "real/launch/ranks.hpp"

#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/launch/rank_command.hpp"
#include "real/launch/rank_limits.hpp"
#include "real/launch/rank_watch.hpp"
#include "real/store/meeting_place.hpp"
#include "real/store/tcp_store.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(int num_ranks, std::chrono::milliseconds timeout) : num_ranks_(num_ranks), timeout_(timeout) {}

  std::string run(const Task& task) override {
    std::string result;
    run_as_threads(num_ranks_, timeout_, [&](std::unique_ptr<Transport> transport) {
      const RankBackend backend = threads_rank(std::move(transport));
      Coordination coordination(*backend.transport);
      std::string own = task.kind.run(task.request, backend, coordination);
      if (backend.transport->rank() == 0) {
        result = std::move(own);
      }
    });
    return result;
  }

 private:
  int num_ranks_;
  std::chrono::milliseconds timeout_;
};

class ProcessRanks final : public Ranks {
 public:
  ProcessRanks(int num_ranks, const LaunchOptions& options, InterruptGuard& interrupts)
      : watch_({.timeout = options.timeout}, interrupts) {
    if (options.rendezvous && options.rendezvous->starts_with("file://")) {
      static_cast<void>(folder_of_rendezvous(*options.rendezvous));  // Refuses what is none.
    }
    if (options.rendezvous == kEnvironmentRendezvous) {
      throw bad_input(
          "rendezvous '{}' is for ranks that others start: RANK and "
          "WORLD_SIZE are not set",
          kEnvironmentRendezvous);
    }
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      watch_.start(rank_command(options, rank, num_ranks));
    }
    ask(JoinJob{.place = {.backend = options.backend,
                          .num_ranks = num_ranks,
                          .gpu = options.gpu,
                          .timeout = options.timeout,
                          .interface = options.interface,
                          .rendezvous = options.rendezvous.value_or("file://" + directory_.path().string()),
                          .group = directory_.path().filename().string()},
                // A wrapper places its ranks itself, and GPUs lie nearer to some cores than to others.
                .tune_machine = options.tune_machine,
                .share_out_cores = registered(options.backend).ranks_take_cores() && !options.wrap},
        fmt::format("connecting {} ranks", num_ranks));
    directory_.remove();  // They have met; a parent that is killed later leaves nothing behind.
  }

  std::string run(const Task& task) override {
    return ask(TaskJob{.kind = task.kind.name, .request = task.request}, task.doing);
  }

 private:
  std::string ask(const Job& job, const std::string& doing) {
    watch_.send(to_line(job));
    return watch_.wait_for_answers(doing).result;
  }

  TemporaryDirectory directory_;
  RankWatch watch_;  ///< After the directory: ranks end before it goes.
};

}  // namespace

std::optional<ExternalRank> external_rank(const LaunchOptions& options) {
  const RegisteredBackend& backend = registered(options.backend);
  return backend.ranks_are_threads ? std::nullopt : external_rank(backend.needs_launcher);
}

void with_ranks(const LaunchOptions& options, const std::string& purpose,
                const std::function<void(const StartRanks&)>& body) {
  const RegisteredBackend& backend = registered(options.backend);
  if (const std::optional<std::string> reason = backend.unavailable()) {
    throw Error(ErrorKind::environment, *reason);
  }
  if (backend.ranks_are_threads) {  // They leave nothing behind, so signals end them as usual.
    body([&](int num_ranks) { return std::make_unique<ThreadRanks>(num_ranks, options.timeout); });
  } else if (const std::optional<ExternalRank> external = external_rank(options)) {
    body([&](int) { return join_external(*external, options, purpose); });
  } else {
    with_interrupts([&](InterruptGuard& interrupts) {
      body([&](int num_ranks) { return start_processes(num_ranks, options, interrupts); });
    });
  }
}

std::unique_ptr<Ranks> start_processes(int num_ranks, const LaunchOptions& options,
                                       InterruptGuard& interrupts) {
  require_processes(num_ranks);
  return std::make_unique<ProcessRanks>(num_ranks, options, interrupts);
}

}  // namespace ringside
