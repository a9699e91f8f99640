#include "real/backend/threads/transport.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "real/backend/backends.hpp"
#include "real/backend/shm/group.hpp"

namespace ringside {

void run_as_threads(int num_ranks, std::chrono::milliseconds timeout,
                    const std::function<void(std::unique_ptr<Transport>)>& body) {
  std::vector<std::shared_ptr<ShmGroup>> groups = ShmGroup::of_threads(num_ranks, timeout);
  std::exception_ptr first;  // What other ranks throw then is its consequence.
  std::once_flag failed;
  const auto fail = [&] { std::call_once(failed, [&] { first = std::current_exception(); }); };
  const auto be_rank = [&](std::shared_ptr<ShmGroup> group) {
    try {
      body(std::move(make_shm_transports(group, nullptr).reading));
    } catch (...) {
      fail();
    }
    group.reset();  // After its exception is kept, so that those that lose it are later.
  };
  std::vector<std::thread> threads;
  try {
    for (std::shared_ptr<ShmGroup>& group : groups) {
      threads.emplace_back(be_rank, std::move(group));
    }
  } catch (...) {  // The system grants no more threads; those that run lose the others.
    fail();
    groups.clear();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (first) {
    std::rethrow_exception(first);
  }
}

RankBackend threads_rank(std::unique_ptr<Transport> transport) {
  RankBackend backend;
  backend.backend = Backend::threads;
  backend.transport = std::move(transport);
  return backend;
}

RegisteredBackend threads_backend() {
  return {.backend = Backend::threads,
          .describe = [] { return std::string("ranks as threads of one process, for tests"); },
          .ranks_are_threads = true};
}

}  // namespace ringside
