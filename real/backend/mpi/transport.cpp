#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

#include "real/backend/mpi/parts.hpp"

namespace ringside {
namespace {

/// Short messages within a node have mostly come by then; afterwards others get the core as well.
constexpr int kTestsBeforeYielding = 4;
constexpr int kTestsBetweenLooks = 64;

/// Between machines, longer messages travel in pieces of this size. Over TCP, Open MPI asks the receiver
/// before it sends more than 64 KiB with its header. The answer waits behind all that the receiver itself is
/// sending: a link then carries one direction at a time. Pieces need no answer. So that none comes where no
/// receive waits, and fills memory there, their receiver says when it is ready.
constexpr std::size_t kPiece = 60 << 10;
/// What is ready waits behind so many pieces at most.
constexpr std::size_t kPiecesInFlight = 8;

class MpiTransport;

/// A message, whole or in pieces.
class MpiTransfer final : public Transfer {
 public:
  MpiTransfer(MpiTransport& transport, MpiSide side, Rank peer, std::span<std::byte> memory);
  ~MpiTransfer() override;
  MpiTransfer(const MpiTransfer&) = delete;
  MpiTransfer& operator=(const MpiTransfer&) = delete;

  void start() override;
  void wait() override;

  Rank peer() const { return peer_; }
  /// Whether pieces of it are still to be sent.
  bool has_more() const { return posted_ < pieces_.size(); }
  /// Moves what can be moved; whether all has been.
  bool advance();

 private:
  using Request = MpiLibrary::Request;
  using Clock = std::chrono::steady_clock;

  bool in_pieces() const { return pieces_.size() > 1; }
  void post();
  bool finished(Request& request);
  Clock::time_point look(Clock::time_point end) const;
  void require(int error) const;

  MpiTransport& transport_;
  MpiSide side_;
  Rank peer_;
  std::span<std::byte> memory_;
  std::vector<Request> pieces_;
  std::size_t posted_ = 0;
  std::size_t finished_ = 0;  ///< The first of those posted.
  Request ready_ = {};
  bool readying_ = false;  ///< The message that says so is under way.
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(MpiLibrary& library, std::vector<bool> elsewhere, std::chrono::milliseconds timeout,
               Progress* progress)
      : library_(library), elsewhere_(std::move(elsewhere)), timeout_(timeout), progress_(progress) {}

  Rank rank() const override { return library_.rank(); }
  int num_ranks() const override { return library_.num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    // One memory is of both sides; a send only reads.
    return std::make_unique<MpiTransfer>(*this, MpiSide::send, target,
                                         std::span(const_cast<std::byte*>(memory.data()), memory.size()));
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return std::make_unique<MpiTransfer>(*this, MpiSide::receive, source, memory);
  }

  MpiLibrary& library() { return library_; }
  std::chrono::milliseconds timeout() const { return timeout_; }
  bool elsewhere(Rank rank) const {
    return static_cast<std::size_t>(rank) < elsewhere_.size() && elsewhere_[static_cast<std::size_t>(rank)];
  }

  void begin_sending(MpiTransfer* send) { sending_.push_back(send); }
  void end_sending(MpiTransfer* send) { std::erase(sending_, send); }
  /// Whether all that this rank sends to the same peer before it is on its way.
  bool has_turn(const MpiTransfer& send) const {
    const auto first = std::ranges::find_if(
        sending_, [&](const MpiTransfer* other) { return other->peer() == send.peer(); });
    return first != sending_.end() && *first == &send;
  }
  /// Sends go on whatever a rank waits for.
  void progress() {
    for (std::size_t i = 0; i < sending_.size();) {
      MpiTransfer* const send = sending_[i];
      send->advance();
      if (i < sending_.size() && sending_[i] == send) {
        ++i;  // Who has sent all has left the list.
      }
    }
  }
  void done() {
    if (progress_ != nullptr) {
      progress_->step();
    }
  }

 private:
  MpiLibrary& library_;
  std::vector<bool> elsewhere_;  ///< By rank.
  std::chrono::milliseconds timeout_;
  Progress* progress_;
  std::vector<MpiTransfer*> sending_;  ///< Those with pieces still to be sent, in the order of their start.
};

MpiTransfer::MpiTransfer(MpiTransport& transport, MpiSide side, Rank peer, std::span<std::byte> memory)
    : transport_(transport), side_(side), peer_(peer), memory_(memory) {
  const bool cut = transport.elsewhere(peer) && memory.size() > kPiece;
  pieces_.resize(cut ? (memory.size() + kPiece - 1) / kPiece : 1);
  posted_ = finished_ = pieces_.size();
}

MpiTransfer::~MpiTransfer() {
  transport_.end_sending(this);
  for (std::size_t i = finished_; i < posted_; ++i) {
    transport_.library().forget(pieces_[i]);
  }
  if (readying_) {
    transport_.library().forget(ready_);
  }
}

void MpiTransfer::start() {
  posted_ = finished_ = 0;
  if (!in_pieces()) {
    post();
    return;
  }
  while (side_ == MpiSide::receive && has_more()) {
    post();
  }
  const MpiSide other = side_ == MpiSide::send ? MpiSide::receive : MpiSide::send;
  require(transport_.library().start(other, peer_, MpiTag::ready, {}, ready_));
  readying_ = true;
  if (side_ == MpiSide::send) {
    transport_.begin_sending(this);
  }
}

void MpiTransfer::post() {
  const std::span<std::byte> rest = memory_.subspan(in_pieces() ? posted_ * kPiece : 0);
  require(transport_.library().start(side_, peer_, in_pieces() ? MpiTag::piece : MpiTag::whole,
                                     in_pieces() ? rest.first(std::min(kPiece, rest.size())) : rest,
                                     pieces_[posted_]));
  ++posted_;
}

bool MpiTransfer::advance() {
  readying_ = readying_ && !finished(ready_);
  while (finished_ < posted_ && finished(pieces_[finished_])) {
    ++finished_;
  }
  if (has_more() && !readying_ && transport_.has_turn(*this)) {
    while (has_more() && posted_ - finished_ < kPiecesInFlight) {
      post();
    }
    if (!has_more()) {
      transport_.end_sending(this);
    }
  }
  return !readying_ && finished_ == pieces_.size();
}

void MpiTransfer::wait() {
  Clock::time_point end = Clock::time_point::max();
  for (int tests = 1; !advance(); ++tests) {
    transport_.progress();
    if (tests >= kTestsBeforeYielding) {
      ::sched_yield();
      if (tests % kTestsBetweenLooks == 0) {
        end = look(end);
      }
    }
  }
  transport_.done();
}

bool MpiTransfer::finished(Request& request) {
  bool is_finished = false;
  require(transport_.library().test(request, is_finished));
  return is_finished;
}

/// The end of this wait, which the first look sets.
MpiTransfer::Clock::time_point MpiTransfer::look(Clock::time_point end) const {
  const Clock::time_point now = Clock::now();
  if (now > end) {
    throw PeerLost(
        peer_, PeerLost::How::late,
        fmt::format("rank {} waited {} to {} rank {}", transport_.rank(), text_of(transport_.timeout()),
                    side_ == MpiSide::send ? "send to" : "receive from", peer_));
  }
  return std::min(end, now + transport_.timeout());
}

void MpiTransfer::require(int error) const {
  if (error != 0) {
    throw PeerLost(peer_, PeerLost::How::gone,
                   fmt::format("rank {} lost rank {}: {}", transport_.rank(), peer_,
                               transport_.library().text_of(error)));
  }
}

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MpiLibrary& library, std::vector<bool> elsewhere,
                                              std::chrono::milliseconds timeout, Progress* progress) {
  return std::make_unique<MpiTransport>(library, std::move(elsewhere), timeout, progress);
}

}  // namespace ringside
