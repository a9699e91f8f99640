#include <algorithm>

#include <fmt/format.h>
#include <sched.h>

#include "real/backend/mpi/parts.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

/// Messages between ranks with cores of their own have come by then; afterwards others get the core as well.
constexpr int kTestsBeforeYielding = 20;
constexpr int kTestsBetweenLooks = 64;

struct Waiting {
  MpiLibrary& library;
  Rank rank;
  std::chrono::milliseconds timeout;
  Progress* progress;
};

class MpiTransfer final : public Transfer {
 public:
  MpiTransfer(const Waiting& waiting, MpiSide side, Rank peer, std::span<std::byte> memory)
      : waiting_(waiting), side_(side), peer_(peer), memory_(memory) {}
  ~MpiTransfer() override {
    if (started_) {
      waiting_.library.forget(request_);
    }
  }
  MpiTransfer(const MpiTransfer&) = delete;
  MpiTransfer& operator=(const MpiTransfer&) = delete;

  void start() override {
    require(waiting_.library.start(side_, peer_, memory_, request_));
    started_ = true;
  }

  void wait() override {
    Clock::time_point end = Clock::time_point::max();
    for (int tests = 1; started_; ++tests) {
      bool finished = false;
      require(waiting_.library.test(request_, finished));
      started_ = !finished;
      if (started_ && tests >= kTestsBeforeYielding) {
        ::sched_yield();
        if (tests % kTestsBetweenLooks == 0) {
          end = look(end);
        }
      }
    }
    if (waiting_.progress != nullptr) {
      waiting_.progress->step();
    }
  }

 private:
  /// The end of this wait, which the first look sets.
  Clock::time_point look(Clock::time_point end) const {
    const Clock::time_point now = Clock::now();
    if (now > end) {
      throw PeerLost(peer_, PeerLost::How::late,
                     fmt::format("rank {} waited {} to {} rank {}", waiting_.rank, text_of(waiting_.timeout),
                                 side_ == MpiSide::send ? "send to" : "receive from", peer_));
    }
    return std::min(end, now + waiting_.timeout);
  }

  void require(int error) const {
    if (error != 0) {
      throw PeerLost(
          peer_, PeerLost::How::gone,
          fmt::format("rank {} lost rank {}: {}", waiting_.rank, peer_, waiting_.library.text_of(error)));
    }
  }

  const Waiting& waiting_;
  MpiSide side_;
  Rank peer_;
  std::span<std::byte> memory_;
  MpiLibrary::Request request_ = {};
  bool started_ = false;
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(const Waiting& waiting) : waiting_(waiting) {}

  Rank rank() const override { return waiting_.rank; }
  int num_ranks() const override { return waiting_.library.num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    // One memory is of both sides; a send only reads.
    return std::make_unique<MpiTransfer>(waiting_, MpiSide::send, target,
                                         std::span(const_cast<std::byte*>(memory.data()), memory.size()));
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return std::make_unique<MpiTransfer>(waiting_, MpiSide::receive, source, memory);
  }

 private:
  Waiting waiting_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MpiLibrary& library, std::chrono::milliseconds timeout,
                                              Progress* progress) {
  return std::make_unique<MpiTransport>(
      Waiting{.library = library, .rank = library.rank(), .timeout = timeout, .progress = progress});
}

}  // namespace ringside
