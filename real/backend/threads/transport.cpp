#include "real/backend/threads/transport.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {
namespace {

/// One side of a message, while it is started.
struct Posted {
  std::span<std::byte> memory;
  bool done = false;
};

/// Messages from one rank to another. Whoever comes second copies.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Posted*> sends;
  std::deque<Posted*> receives;
  bool closed = false;
};

class ThreadsGroup {
 public:
  ThreadsGroup(int num_ranks, std::chrono::milliseconds timeout)
      : num_ranks_(num_ranks),
        timeout_(timeout),
        mailboxes_(static_cast<std::size_t>(num_ranks) * static_cast<std::size_t>(num_ranks)) {}

  int num_ranks() const { return num_ranks_; }
  std::chrono::milliseconds timeout() const { return timeout_; }
  Mailbox& mailbox(Rank source, Rank target) {
    return mailboxes_[static_cast<std::size_t>(source) * static_cast<std::size_t>(num_ranks_) +
                      static_cast<std::size_t>(target)];
  }

  /// Nobody waits any longer.
  void close() {
    for (Mailbox& mailbox : mailboxes_) {
      const std::lock_guard lock(mailbox.mutex);
      mailbox.closed = true;
      mailbox.changed.notify_all();
    }
  }

 private:
  int num_ranks_;
  std::chrono::milliseconds timeout_;
  std::deque<Mailbox> mailboxes_;  // A deque because mutexes cannot be moved.
};

class ThreadsTransfer final : public Transfer {
 public:
  enum class Side { send, receive };

  ThreadsTransfer(ThreadsGroup& group, Rank rank, Rank peer, Side side, std::span<std::byte> memory)
      : rank_(rank),
        peer_(peer),
        side_(side),
        timeout_(group.timeout()),
        mailbox_(side == Side::send ? group.mailbox(rank, peer) : group.mailbox(peer, rank)),
        posted_{.memory = memory} {}

  /// After an exception a transfer may go while it is still started.
  ~ThreadsTransfer() override {
    const std::lock_guard lock(mailbox_.mutex);
    std::erase(mailbox_.sends, &posted_);
    std::erase(mailbox_.receives, &posted_);
  }
  ThreadsTransfer(const ThreadsTransfer&) = delete;
  ThreadsTransfer& operator=(const ThreadsTransfer&) = delete;

  void start() override {
    const std::lock_guard lock(mailbox_.mutex);
    posted_.done = false;
    std::deque<Posted*>& own = side_ == Side::send ? mailbox_.sends : mailbox_.receives;
    std::deque<Posted*>& other = side_ == Side::send ? mailbox_.receives : mailbox_.sends;
    if (other.empty()) {
      own.push_back(&posted_);
      return;
    }
    Posted& match = *other.front();
    other.pop_front();
    if (match.memory.size() != posted_.memory.size()) {
      throw_sizes(match);
    }
    if (side_ == Side::send) {
      std::memcpy(match.memory.data(), posted_.memory.data(), posted_.memory.size());
    } else {
      std::memcpy(posted_.memory.data(), match.memory.data(), posted_.memory.size());
    }
    match.done = posted_.done = true;
    mailbox_.changed.notify_all();
  }

  void wait() override {
    std::unique_lock lock(mailbox_.mutex);
    const bool in_time = waited(lock);
    if (!posted_.done) {
      if (in_time) {
        throw PeerLost(peer_, PeerLost::How::gone, fmt::format("rank {} lost rank {}", rank_, peer_));
      }
      throw PeerLost(peer_, PeerLost::How::late,
                     fmt::format("rank {} waited {} to {} rank {}", rank_, text_of(timeout_),
                                 side_ == Side::send ? "send to" : "receive from", peer_));
    }
  }

 private:
  /// Whether there was something before the timeout was over. In pieces, of which a time in which this
  /// process is stopped counts as one: no rank is late for that.
  bool waited(std::unique_lock<std::mutex>& lock) {
    constexpr std::chrono::milliseconds kPiece{250};
    for (std::chrono::milliseconds left = timeout_; left > std::chrono::milliseconds(0); left -= kPiece) {
      if (mailbox_.changed.wait_for(lock, std::min(left, kPiece),
                                    [this] { return posted_.done || mailbox_.closed; })) {
        return true;
      }
    }
    return false;
  }

  [[noreturn]] void throw_sizes(const Posted& match) const {
    const bool sends = side_ == Side::send;
    throw Error(ErrorKind::bad_input,
                fmt::format("rank {} sends {} B to rank {}, which wants to receive {} B",
                            sends ? rank_ : peer_, (sends ? posted_ : match).memory.size(),
                            sends ? peer_ : rank_, (sends ? match : posted_).memory.size()));
  }

  Rank rank_;
  Rank peer_;
  Side side_;
  std::chrono::milliseconds timeout_;
  Mailbox& mailbox_;
  Posted posted_;
};

class ThreadsTransport final : public Transport {
 public:
  ThreadsTransport(ThreadsGroup& group, Rank rank) : group_(group), rank_(rank) {}

  Rank rank() const override { return rank_; }
  int num_ranks() const override { return group_.num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    // Both sides share one type; a send's memory is only read.
    auto* bytes = const_cast<std::byte*>(memory.data());
    return std::make_unique<ThreadsTransfer>(group_, rank_, target, ThreadsTransfer::Side::send,
                                             std::span(bytes, memory.size()));
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return std::make_unique<ThreadsTransfer>(group_, rank_, source, ThreadsTransfer::Side::receive, memory);
  }

 private:
  ThreadsGroup& group_;
  Rank rank_;
};

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
  ThreadsGroup group(num_ranks, timeout);
  FirstException exception;
  const auto be_rank = [&](Rank rank) {
    try {
      body(std::make_unique<ThreadsTransport>(group, rank));
    } catch (...) {
      exception.store(std::current_exception());
      group.close();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      threads.emplace_back(be_rank, rank);
    }
  } catch (...) {  // The system grants no more threads; those that run must end first.
    exception.store(std::current_exception());
    group.close();
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
