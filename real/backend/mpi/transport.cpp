#include "real/backend/mpi/transport.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

/// MPI counts bytes as `int`.
constexpr std::size_t kLongestPiece = std::size_t{1} << 30;
/// A message between ranks with cores of their own has come by then; afterwards others get the core in between.
constexpr int kTestsBeforeYielding = 20;
constexpr int kTestsBetweenLooks = 64;

struct Wait {
  MpiLibrary& library;
  Rank rank;
  std::chrono::milliseconds timeout;
  Progress* progress;
};

enum class Side { send, receive };

class MpiTransfer final : public Transfer {
 public:
  MpiTransfer(const Wait& waits, Side side, Rank peer, std::span<std::byte> memory)
      : waits_(waits), side_(side), peer_(peer), memory_(memory) {
    requests_.resize((memory.size() + kLongestPiece - 1) / kLongestPiece);
  }
  ~MpiTransfer() override {
    for (std::size_t i = first_open_; i < num_started_; ++i) {
      waits_.library.forget(requests_[i]);
    }
  }
  MpiTransfer(const MpiTransfer&) = delete;
  MpiTransfer& operator=(const MpiTransfer&) = delete;

  void start() override {
    first_open_ = 0;
    for (num_started_ = 0; num_started_ < requests_.size(); ++num_started_) {
      const std::span<std::byte> rest = memory_.subspan(num_started_ * kLongestPiece);
      const std::span<std::byte> piece = rest.first(std::min(rest.size(), kLongestPiece));
      MpiLibrary::Request& request = requests_[num_started_];
      require(side_ == Side::send ? waits_.library.start_send(peer_, piece, request)
                                  : waits_.library.start_receive(peer_, piece, request));
    }
  }

  void wait() override {
    Clock::time_point end = Clock::time_point::max();
    for (int tests = 1; first_open_ < num_started_; ++tests) {
      bool finished = false;
      require(waits_.library.test(requests_[first_open_], finished));
      if (finished) {
        ++first_open_;
      } else if (tests >= kTestsBeforeYielding) {
        ::sched_yield();
        if (tests % kTestsBetweenLooks == 0) {
          end = look(end);
        }
      }
    }
    if (waits_.progress != nullptr) {
      waits_.progress->step();
    }
  }

 private:
  /// The end of this wait, set at the first look.
  Clock::time_point look(Clock::time_point end) const {
    const Clock::time_point now = Clock::now();
    if (now > end) {
      throw PeerLost(peer_, PeerLost::How::late,
                     fmt::format("rank {} waited {} to {} rank {}", waits_.rank, text_of(waits_.timeout),
                                 side_ == Side::send ? "send to" : "receive from", peer_));
    }
    return std::min(end, now + waits_.timeout);
  }

  void require(int error) const {
    if (error != 0) {
      throw PeerLost(
          peer_, PeerLost::How::gone,
          fmt::format("rank {} lost rank {}: {}", waits_.rank, peer_, waits_.library.text_of(error)));
    }
  }

  const Wait& waits_;
  Side side_;
  Rank peer_;
  std::span<std::byte> memory_;
  std::vector<MpiLibrary::Request> requests_;  ///< Of each piece; those before `first_open_` are over.
  std::size_t num_started_ = 0;
  std::size_t first_open_ = 0;
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(const Wait& waits) : waits_(waits), num_ranks_(waits.library.num_ranks()) {}

  Rank rank() const override { return waits_.rank; }
  int num_ranks() const override { return num_ranks_; }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    // Pieces are of both sides; a send only reads.
    auto* bytes = const_cast<std::byte*>(memory.data());
    return std::make_unique<MpiTransfer>(waits_, Side::send, target, std::span(bytes, memory.size()));
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return std::make_unique<MpiTransfer>(waits_, Side::receive, source, memory);
  }

 private:
  Wait waits_;
  int num_ranks_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MpiLibrary& library, std::chrono::milliseconds timeout,
                                              Progress* progress) {
  return std::make_unique<MpiTransport>(
      Wait{.library = library, .rank = library.rank(), .timeout = timeout, .progress = progress});
}

}  // namespace ringside
