#include "real/launch/thread_ranks.hpp"

#include <memory>
#include <utility>

#include "real/backend/threads/transport.hpp"

namespace ringside {
namespace {

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(int num_ranks, const LaunchOptions& options)
      : num_ranks_(num_ranks), timeout_(options.timeout) {}

  int num_ranks() const override { return num_ranks_; }

  Answer run(const Job& job) override {
    Answer answer;
    run_as_threads(num_ranks_, timeout_, [&](std::unique_ptr<Transport> transport) {
      const RankBackend backend = threads_rank(std::move(transport));
      Coordination coordination(*backend.transport);
      Answer own = run_job(job, backend, coordination);
      if (backend.transport->rank() == 0) {
        answer = std::move(own);
      }
    });
    return answer;
  }

 private:
  int num_ranks_;
  std::chrono::milliseconds timeout_;
};

}  // namespace

std::unique_ptr<Ranks> start_threads(int num_ranks, const LaunchOptions& options) {
  return std::make_unique<ThreadRanks>(num_ranks, options);
}

}  // namespace ringside
