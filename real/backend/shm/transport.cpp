// 400 lines: sends and receives are the two ends of one channel, whose order of announcements both keep.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/failures.hpp"
#include "real/backend/shm/group.hpp"
#include "real/execute/reduce.hpp"

namespace ringside {
namespace {

/// Private memory of others is read in pieces of this size, still in cache when reduced.
constexpr std::size_t kPiece = 128 << 10;

class ShmTransport;

class ShmSend final : public Transfer, public Condition {
 public:
  ShmSend(ShmTransport& transport, Rank target, std::span<const std::byte> memory);
  ~ShmSend() override;
  ShmSend(const ShmSend&) = delete;
  ShmSend& operator=(const ShmSend&) = delete;

  void start() override;
  void wait() override;
  bool met() override;

  /// Announces the message if there is room for it.
  bool announce();

 private:
  bool fill(Announcement& announcement);

  ShmTransport& transport_;
  Rank target_;
  std::span<const std::byte> memory_;
  std::span<std::byte> copy_ = {};  ///< Shared memory that stands for the message …
  MessageKind kind_ = MessageKind::shared;
  std::uint64_t place_ = 0;
  bool lies_ = false;                          ///< … otherwise it is read where it lies.
  std::optional<std::uint64_t> message_ = {};  ///< Its number in the channel, once it is announced.
  bool queued_ = false;
};

/// Copies, or reduces into its memory.
class ShmReceive final : public Transfer, public Condition {
 public:
  /// What becomes of a message.
  enum class Use : std::uint8_t { copy, reduce, reduce_into_both };

  ShmReceive(ShmTransport& transport, Rank source, const Reduction& reduction, Use use)
      : transport_(transport), source_(source), reduction_(reduction), use_(use) {}
  ~ShmReceive() override;
  ShmReceive(const ShmReceive&) = delete;
  ShmReceive& operator=(const ShmReceive&) = delete;

  void start() override;
  void wait() override;
  bool met() override;

  /// Takes the message if it has come. A reduction is made only when it is waited for.
  bool take();
  bool reduces() const { return use_ != Use::copy; }

 private:
  void take_from(const Announcement& announcement);
  void reduce_remote(std::uint64_t address);
  void reduce_into_both(const Announcement& announcement);
  [[noreturn]] void throw_sizes(std::uint64_t bytes) const;

  ShmTransport& transport_;
  Rank source_;
  Reduction reduction_;
  Use use_;
  std::uint64_t message_ = 0;
  bool taken_ = true;
};

class ShmTransport final : public Transport {
 public:
  ShmTransport(std::shared_ptr<ShmGroup> group, Progress* progress)
      : group_(std::move(group)),
        progress_(progress),
        channels_(static_cast<std::size_t>(group_->num_ranks())) {}

  Rank rank() const override { return group_->rank(); }
  int num_ranks() const override { return group_->num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    return std::make_unique<ShmSend>(*this, target, memory);
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return std::make_unique<ShmReceive>(*this, source, Reduction{.target = memory}, ShmReceive::Use::copy);
  }
  std::unique_ptr<Transfer> make_reducing_receive(Rank source, const Reduction& reduction) override {
    return std::make_unique<ShmReceive>(*this, source, reduction, ShmReceive::Use::reduce);
  }
  OwnMemory allocate(std::int64_t bytes) override {
    return {group_->memory().take(bytes),
            [memory = group_->shared()](std::byte* data) { memory->give_back(data); }};
  }
  bool leaves_at_once(std::span<const std::byte> memory) const override {
    return !group_->of_one_process() &&
           (memory.size() <= kBuffered ||
            (group_->memory().offset_of(memory) < 0 && !group_->reads_remotely()));
  }

  /// A copy that stands for a message is not given back before it has been taken, also when its send is gone.
  void retire(Rank target, std::uint64_t message, std::span<std::byte> copy) {
    retired_.push_back({.target = target, .message = message, .copy = copy});
    give_back_what_is_taken();
  }
  void give_back_what_is_taken() {
    std::erase_if(retired_, [this](const Retired& retired) {
      const bool taken = is_taken(retired.target, retired.message);
      if (taken) {
        group_->memory().give_back(retired.copy.data());
      }
      return taken;
    });
  }
  bool is_taken(Rank target, std::uint64_t message) {
    return sent(target, message).state.load(std::memory_order_acquire) != 2 * message + 1;
  }

  /// What this rank knows of its messages to and from another one.
  struct Messages {
    std::uint64_t announced = 0;  ///< To the other.
    std::uint64_t expected = 0;   ///< From the other: receives started.
    std::array<std::uint64_t, kBuffers> in_buffer =
        {};                            ///< 1 + the message that was last put into a buffer of ours.
    std::deque<ShmSend*> queued = {};  ///< Sends for whose announcement there is no room.
  };

  ShmGroup& group() { return *group_; }
  Messages& with(Rank peer) { return channels_[static_cast<std::size_t>(peer)]; }
  Announcement& sent(Rank target, std::uint64_t message) {
    return group_->channel(rank(), target).announcements[message % kMessages];
  }
  Announcement& received(Rank source, std::uint64_t message) {
    return group_->channel(source, rank()).announcements[message % kMessages];
  }

  void queue(Rank target, ShmSend* send) {
    with(target).queued.push_back(send);
    ++num_queued_;
  }
  void forget(Rank target, ShmSend* send) { num_queued_ -= std::erase(with(target).queued, send); }
  void expect(ShmReceive* receive) { expected_.push_back(receive); }
  void forget(ShmReceive* receive) { std::erase(expected_, receive); }

  /// Moves what can be moved meanwhile.
  void progress() {
    for (std::size_t i = 0; i < expected_.size();) {
      ShmReceive* const receive = expected_[i];
      if (receive->reduces() || !receive->take()) {
        ++i;  // Who has taken has left the list.
      }
    }
    for (std::size_t peer = 0; num_queued_ > 0 && peer < channels_.size(); ++peer) {
      std::deque<ShmSend*>& queued = channels_[peer].queued;
      while (!queued.empty() && queued.front()->announce()) {
        queued.pop_front();
        --num_queued_;
      }
    }
  }

  void done() {
    if (progress_ != nullptr) {
      progress_->step();
    }
  }

 private:
  struct Retired {
    Rank target = 0;
    std::uint64_t message = 0;
    std::span<std::byte> copy = {};
  };

  std::shared_ptr<ShmGroup> group_;
  Progress* progress_;
  std::vector<Retired> retired_;
  std::vector<Messages> channels_;  ///< By rank.
  std::vector<ShmReceive*> expected_;
  std::size_t num_queued_ = 0;
};

/// Moves data as the all_reduce of this backend's own does: who reduces a message writes the result to its
/// sender, too.
class WritingTransport final : public Transport {
 public:
  explicit WritingTransport(ShmTransport& transport) : transport_(transport) {}

  Rank rank() const override { return transport_.rank(); }
  int num_ranks() const override { return transport_.num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    return transport_.make_send(target, memory);
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return transport_.make_receive(source, memory);
  }
  std::unique_ptr<Transfer> make_reducing_receive(Rank source, const Reduction& reduction) override {
    return std::make_unique<ShmReceive>(transport_, source, reduction, ShmReceive::Use::reduce_into_both);
  }
  OwnMemory allocate(std::int64_t bytes) override { return transport_.allocate(bytes); }

 private:
  ShmTransport& transport_;
};

// --- Sends -------------------------------------------------------------------------------------------------

ShmSend::ShmSend(ShmTransport& transport, Rank target, std::span<const std::byte> memory)
    : transport_(transport), target_(target), memory_(memory) {
  ShmGroup& group = transport.group();
  if (!group.of_one_process() && memory.size() <= kBuffered) {
    kind_ = memory.size() <= kInline ? MessageKind::inlined : MessageKind::buffered;
    return;
  }
  std::int64_t offset = group.of_one_process() ? -1 : group.memory().offset_of(memory);
  lies_ = offset >= 0 || group.reads_remotely();
  if (offset < 0 && lies_) {
    kind_ = MessageKind::remote;
    place_ = reinterpret_cast<std::uint64_t>(memory.data());
    return;
  }
  if (!lies_) {
    transport.give_back_what_is_taken();
    copy_ = group.memory().take(static_cast<std::int64_t>(memory.size()));
    offset = group.memory().offset_of(copy_);
  }
  place_ = static_cast<std::uint64_t>(offset);
}

ShmSend::~ShmSend() {
  if (queued_) {
    transport_.forget(target_, this);
  }
  if (!copy_.empty() && message_) {
    transport_.retire(target_, *message_, copy_);
  } else if (!copy_.empty()) {
    transport_.group().memory().give_back(copy_.data());
  }
}

void ShmSend::start() {
  queued_ = !transport_.with(target_).queued.empty() || !announce();
  if (queued_) {
    transport_.queue(target_, this);
  }
}

bool ShmSend::announce() {
  ShmTransport::Messages& messages = transport_.with(target_);
  const std::uint64_t message = messages.announced;
  Announcement& announcement = transport_.sent(target_, message);
  const std::uint64_t free = message < kMessages ? 0 : 2 * (message - kMessages) + 2;
  if (announcement.state.load(std::memory_order_acquire) != free || !fill(announcement)) {
    return false;
  }
  announcement.kind = kind_;
  announcement.place = place_;
  announcement.bytes = memory_.size();
  announcement.state.store(2 * message + 1, std::memory_order_release);
  messages.announced = message + 1;
  message_ = message;
  queued_ = false;
  transport_.group().wake(target_);
  return true;
}

/// Puts a message that leaves at once where the other side reads it; false while there is no room.
bool ShmSend::fill(Announcement& announcement) {
  if (kind_ == MessageKind::inlined) {
    // An empty message has no memory, which memcpy refuses.
    std::ranges::copy(memory_, announcement.inlined.begin());
    return true;
  }
  if (kind_ == MessageKind::buffered) {
    std::array<std::uint64_t, kBuffers>& in_buffer = transport_.with(target_).in_buffer;
    // The first one that is free, so that few buffers are used, which stay in the caches.
    const auto buffer = std::ranges::find_if(in_buffer, [&](std::uint64_t number) {
      return number == 0 || transport_.is_taken(target_, number - 1);
    });
    if (buffer == in_buffer.end()) {
      return false;
    }
    *buffer = transport_.with(target_).announced + 1;
    place_ = static_cast<std::uint64_t>(buffer - in_buffer.begin());
    ShmGroup& group = transport_.group();
    std::memcpy(group.channel(group.rank(), target_).buffers[place_].data(), memory_.data(), memory_.size());
    return true;
  }
  if (!copy_.empty()) {
    // The copy of an earlier start may still be read.
    if (message_ && !transport_.is_taken(target_, *message_)) {
      return false;
    }
    std::memcpy(copy_.data(), memory_.data(), memory_.size());
  }
  return true;
}

bool ShmSend::met() {
  transport_.progress();
  return !queued_ && (!lies_ || transport_.is_taken(target_, *message_));
}

void ShmSend::wait() {
  if (queued_ || lies_) {
    transport_.group().wait({.peer = target_, .doing = "send to", .bytes = std::ssize(memory_)}, *this);
  }
  transport_.done();
}

// --- Receives ----------------------------------------------------------------------------------------------

ShmReceive::~ShmReceive() {
  if (!taken_) {
    transport_.forget(this);
  }
}

void ShmReceive::start() {
  message_ = transport_.with(source_).expected++;
  taken_ = false;
  transport_.expect(this);
}

bool ShmReceive::take() {
  Announcement& announcement = transport_.received(source_, message_);
  if (announcement.state.load(std::memory_order_acquire) != 2 * message_ + 1) {
    return false;
  }
  if (announcement.bytes != reduction_.target.size()) {
    throw_sizes(announcement.bytes);
  }
  take_from(announcement);
  taken_ = true;
  transport_.forget(this);
  announcement.state.store(2 * message_ + 2, std::memory_order_release);
  transport_.group().wake(source_);
  return true;
}

void ShmReceive::take_from(const Announcement& announcement) {
  ShmGroup& group = transport_.group();
  const std::byte* source = announcement.inlined.data();
  if (use_ == Use::reduce_into_both) {
    reduce_into_both(announcement);
    return;
  }
  if (announcement.kind == MessageKind::remote) {
    if (reduces()) {
      reduce_remote(announcement.place);
    } else {
      group.read_remotely(source_, announcement.place, reduction_.target);
    }
    return;
  }
  if (announcement.kind == MessageKind::buffered) {
    source = group.channel(source_, group.rank()).buffers[announcement.place].data();
  } else if (announcement.kind == MessageKind::shared) {
    source = group.peer(source_).at(static_cast<std::int64_t>(announcement.place),
                                    static_cast<std::int64_t>(announcement.bytes));
    RINGSIDE_CHECK(source != nullptr, "a message lies within its sender's memory");
  }
  if (reduces()) {
    reduce_into(reduction_.target.data(), source, reduction_.num_elements(), reduction_.dtype, reduction_.op);
  } else {
    std::copy_n(source, reduction_.target.size(), reduction_.target.begin());
  }
}

void ShmReceive::reduce_into_both(const Announcement& announcement) {
  RINGSIDE_CHECK(announcement.kind == MessageKind::shared, "a message that is written lies in shared memory");
  std::byte* const message = transport_.group().peer(source_).at(
      static_cast<std::int64_t>(announcement.place), static_cast<std::int64_t>(announcement.bytes));
  RINGSIDE_CHECK(message != nullptr, "a message lies within its sender's memory");
  for (std::size_t begin = 0; begin < reduction_.target.size(); begin += kBlock) {
    Reduction block = reduction_;
    block.target = reduction_.target.subspan(begin, std::min(kBlock, reduction_.target.size() - begin));
    reduce_into(block.target.data(), message + begin, block.num_elements(), block.dtype, block.op);
    copy_in_cache(message + begin, block.target.data(), static_cast<std::int64_t>(block.target.size()));
  }
}

void ShmReceive::reduce_remote(std::uint64_t address) {
  std::vector<std::byte> piece(std::min(kPiece, reduction_.target.size()));
  for (std::span<std::byte> left = reduction_.target; !left.empty();) {
    const std::span<std::byte> now = left.first(std::min(left.size(), piece.size()));
    transport_.group().read_remotely(source_, address, std::span(piece).first(now.size()));
    Reduction part = reduction_;
    part.target = now;
    reduce_into(now.data(), piece.data(), part.num_elements(), part.dtype, part.op);
    address += now.size();
    left = left.subspan(now.size());
  }
}

void ShmReceive::throw_sizes(std::uint64_t bytes) const {
  throw bad_input("rank {} sends {} B to rank {}, which wants to receive {} B", source_, bytes,
                  transport_.rank(), reduction_.target.size());
}

bool ShmReceive::met() {
  if (!taken_ && !take()) {
    transport_.progress();
  }
  return taken_;
}

void ShmReceive::wait() {
  if (!taken_ && !take()) {
    transport_.group().wait({.peer = source_, .bytes = std::ssize(reduction_.target)}, *this);
  }
  transport_.done();
}

}  // namespace

ShmTransports make_shm_transports(std::shared_ptr<ShmGroup> group, Progress* progress) {
  auto transport = std::make_unique<ShmTransport>(std::move(group), progress);
  auto writing = std::make_unique<WritingTransport>(*transport);
  return {.reading = std::move(transport), .writing = std::move(writing)};
}

}  // namespace ringside
