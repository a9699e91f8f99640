#include "tests/gpu/rehearsal/cuda/worker.hpp"

#include <thread>
#include <utility>

namespace rehearsal {
namespace {

constexpr std::uint64_t kLongestMicroseconds = 300;

}  // namespace

Pauses::Pauses(std::uint64_t seed) : random_(seed), style_(seed == 0 ? 0 : random_() % 3) {}

void Pauses::pause() {
  if (style_ == 0) {
    return;
  }
  const std::uint64_t time = style_ == 1 ? kLongestMicroseconds : random_() % kLongestMicroseconds;
  std::this_thread::sleep_for(std::chrono::microseconds(time));
}

void Completion::complete() {
  const std::lock_guard lock(mutex_);
  complete_ = true;
  time_ = Clock::now();
  changed_.notify_all();
}

void Completion::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return complete_; });
}

bool Completion::is_complete() {
  const std::lock_guard lock(mutex_);
  return complete_;
}

Completion::Clock::time_point Completion::time() {
  const std::lock_guard lock(mutex_);
  return time_;
}

struct Worker::Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> works;
  bool busy = false;
  bool closed = false;

  void run(Pauses pauses) {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return !works.empty() || closed; });
      if (works.empty()) {
        return;
      }
      const Work work = std::move(works.front());
      works.pop_front();
      busy = true;
      lock.unlock();
      pauses.pause();
      work();
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
};

Worker::Worker(std::uint64_t seed) : queue_(std::make_shared<Queue>()) {
  // As a stream that is destroyed, it ends by itself when its work is done; nobody waits for it.
  std::thread([queue = queue_, seed] { queue->run(Pauses(seed)); }).detach();
}

Worker::~Worker() {
  const std::lock_guard lock(queue_->mutex);
  queue_->closed = true;
  queue_->changed.notify_all();
}

void Worker::push(Work work) {
  const std::lock_guard lock(queue_->mutex);
  queue_->works.push_back(std::move(work));
  queue_->changed.notify_all();
}

void Worker::wait_until_idle() {
  std::unique_lock lock(queue_->mutex);
  queue_->changed.wait(lock, [this] { return queue_->works.empty() && !queue_->busy; });
}

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t which) {
  if (seed == 0) {
    return 0;
  }
  std::uint64_t mixed = seed * 0x9e3779b97f4a7c15 + (which + 1) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 31)) * 0x94d049bb133111eb;
  return (mixed ^ (mixed >> 29)) | 1;
}

}  // namespace rehearsal
