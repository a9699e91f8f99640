#include "real/launch/ranks.hpp"

#include <utility>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/threads/transport.hpp"

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

}  // namespace ringside
