#include "real/backend/threads/transport.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "real/backend/shm/group.hpp"
#include "real/backend/shm/transport.hpp"

namespace ringside {
namespace {

/// The exception of the rank that failed first; later ones are its consequences.
class FirstException {
 public:
  void store(std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    if (!first_) {
      first_ = std::move(exception);
    }
  }
  void rethrow() const {
    if (first_) {
      std::rethrow_exception(first_);
    }
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace

void run_as_threads(int num_ranks, std::chrono::milliseconds timeout,
                    const std::function<void(std::unique_ptr<Transport>)>& body) {
  std::vector<std::shared_ptr<ShmGroup>> groups = ShmGroup::of_threads(num_ranks, timeout);
  FirstException exception;
  const auto be_rank = [&](std::shared_ptr<ShmGroup> group) {
    try {
      body(make_shm_transport(group, nullptr));
    } catch (...) {
      exception.store(std::current_exception());
    }
    group.reset();  // After its exception is stored, so that those that lose it are later.
  };
  std::vector<std::thread> threads;
  try {
    for (std::shared_ptr<ShmGroup>& group : groups) {
      threads.emplace_back(be_rank, std::move(group));
    }
  } catch (...) {  // The system grants no more threads; those that run lose the others.
    exception.store(std::current_exception());
    groups.clear();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  exception.rethrow();
}

RankBackend threads_rank(std::unique_ptr<Transport> transport) {
  RankBackend backend;
  backend.backend = Backend::threads;
  backend.transport = std::move(transport);
  return backend;
}

}  // namespace ringside
