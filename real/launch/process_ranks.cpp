#include <fmt/format.h>

#include "real/backend/backends.hpp"
#include "real/launch/external/meeting_folder.hpp"
#include "real/launch/rank_command.hpp"
#include "real/launch/rank_limits.hpp"
#include "real/launch/rank_watch.hpp"
#include "real/launch/ranks.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

class ProcessRanks final : public Ranks {
 public:
  ProcessRanks(int num_ranks, const LaunchOptions& options, InterruptGuard& interrupts)
      : watch_({.timeout = options.timeout}, interrupts) {
    if (options.rendezvous && options.rendezvous->starts_with("file://")) {
      static_cast<void>(folder_of_rendezvous(*options.rendezvous));  // Refuses what is none.
    }
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      watch_.start(rank_command(options, rank, num_ranks));
    }
    ask(JoinJob{.num_ranks = num_ranks,
                .backend = options.backend,
                .gpu = options.gpu,
                .timeout = options.timeout,
                .interface = options.interface,
                .rendezvous = options.rendezvous.value_or("file://" + directory_.path().string()),
                .group = directory_.path().filename().string(),
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

std::unique_ptr<Ranks> start_processes(int num_ranks, const LaunchOptions& options,
                                       InterruptGuard& interrupts) {
  require_processes(num_ranks);
  return std::make_unique<ProcessRanks>(num_ranks, options, interrupts);
}

}  // namespace ringside
