#include "common/parallel.hpp"

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace ringside {

void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::thread::hardware_concurrency() && i < count; ++i) {
      others.emplace_back(take);
    }
    take();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace ringside
