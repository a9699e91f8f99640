#include "real/probe/probe_program.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/error.hpp"

namespace ringside {
namespace {

/// Messages of stream and both_ways in flight: enough that none waits for the next to be posted, within
/// bounds on memory.
constexpr std::int64_t kMaxInFlight = 8;
constexpr std::int64_t kMaxBytesInFlight = 64LL << 20;

/// A reduction of few bytes is repeated until the clock's own cost no longer counts.
constexpr std::int64_t kMinBytesReduced = 256LL << 10;

/// The longest message of which a probe through memory exchanges chunks.
constexpr std::int64_t kLongestMessage = 64LL << 20;

/// Exchanges in a chain: enough for the first one, which comes from a barrier, to count little.
constexpr int kChainedExchanges = 6;

/// Probes are programs, as algorithms are: they run through the executor, each with one buffer that is sent
/// from and one that is received into.
constexpr std::int32_t kOwn = 0;
constexpr std::int32_t kArrived = 1;
constexpr std::int32_t kStaging = 2;  ///< Only where something is reduced as it arrives.

class Writer {
 public:
  Writer(const ProbeKey& key, Rank rank, int num_ranks, RankSite site)
      : key_(key),
        rank_(rank),
        num_ranks_(num_ranks),
        bytes_(key.bytes.value),
        through_memory_(site == RankSite::memory),
        on_gpu_(site == RankSite::gpu) {
    RINGSIDE_CHECK(bytes_ > 0 && bytes_ % static_cast<std::int64_t>(sizeof(float)) == 0,
                   "a probe moves whole float32 elements");
    program_ = {.rank = rank, .num_ranks = num_ranks};
    switch (key.kind) {
      case ProbeKind::ping_pong:
        write_ping_pong();
        break;
      case ProbeKind::stream:
        write_stream(rank_ == key.second, rank_ == key.first);
        break;
      case ProbeKind::both_ways:
        write_stream(is_of_pair(), is_of_pair());
        break;
      case ProbeKind::neighbour_exchange:
        write_neighbour_exchange();
        break;
      case ProbeKind::native_exchange:
        write_native_exchange();
        break;
      case ProbeKind::chained_exchange:
        through_memory_ ? write_exchanges_in_place() : write_chained_exchange(false);
        break;
      case ProbeKind::chained_exchange_posted:
        write_chained_exchange(true);
        break;
      case ProbeKind::send:
        write_send();
        break;
      case ProbeKind::fan_out:
        write_fan_out();
        break;
      case ProbeKind::reduction:
        write_reductions();
        break;
      case ProbeKind::reducing_exchange:
        write_reducing_exchange(std::min(num_ranks_ - 1, 2));
        break;
      case ProbeKind::writing_exchange:
        write_reducing_exchange(1);
        break;
    }
    // Ranks that have no part need no memory.
    const std::int64_t size = program_.steps.empty() ? 0 : bytes_ * messages_;
    program_.buffer_bytes = {in_place_ > 0 ? in_place_ * bytes_ : size, in_place_ > 0 ? 0 : size, staged_};
  }

  /// Whether this rank's clock counts (the slowest does). A round trip is over where it began, and only
  /// its sender knows when a send is; another's clock would add how far apart the two left the barrier.
  bool counts() const { return !row_of(key_.kind).of_first || rank_ == key_.first; }

  ProbeProgram take() {
    return {.program = std::move(program_),
            .repeats = static_cast<double>(repeats_),
            .first_reduction = first_reduction_,
            .counts = counts()};
  }

 private:
  Region region(std::int32_t buffer, std::int64_t message = 0) const {
    return {.buffer = buffer, .offset = message * bytes_, .bytes = bytes_};
  }
  Region arrived(std::int64_t message) const {
    return in_place_ > 0 ? region(kOwn, (messages_ + message) % in_place_) : region(kArrived, message);
  }

  /// Where ranks see one memory, they exchange chunks of one message, as in collectives: what else of it they
  /// have written is in their caches, too.
  void exchange_chunks() {
    if (through_memory_) {
      in_place_ = std::clamp(kLongestMessage / bytes_, 2 * messages_, num_ranks_ * messages_);
    }
  }

  void start_receive(Rank source, std::int64_t message) {
    started_.push_back(program_.add({.kind = StepKind::receive, .peer = source, .target = arrived(message)}));
  }
  void start_send(Rank target, std::int64_t message) {
    started_.push_back(
        program_.add({.kind = StepKind::send, .peer = target, .source = region(kOwn, message)}));
  }
  void wait_for_all() {
    for (const std::int32_t transfer : started_) {
      program_.add({.kind = StepKind::wait, .transfer = transfer});
    }
    started_.clear();
  }

  bool is_of_pair() const { return rank_ == key_.first || rank_ == key_.second; }
  Rank other_of_pair() const { return rank_ == key_.first ? key_.second : key_.first; }

  void write_ping_pong() {
    repeats_ = 2;  // There and back.
    if (!is_of_pair()) {
      return;
    }
    in_place_ = through_memory_ ? 1 : 0;
    const Rank other = other_of_pair();
    if (rank_ == key_.first) {
      start_send(other, 0);
      wait_for_all();
    }
    start_receive(other, 0);
    wait_for_all();
    if (rank_ == key_.second) {
      start_send(other, 0);
      wait_for_all();
    }
  }

  void write_stream(bool receives, bool sends) {
    repeats_ = messages_ = std::clamp<std::int64_t>(kMaxBytesInFlight / bytes_, 2, kMaxInFlight);
    for (std::int64_t i = 0; receives && i < messages_; ++i) {
      start_receive(other_of_pair(), i);
    }
    for (std::int64_t i = 0; sends && i < messages_; ++i) {
      start_send(other_of_pair(), i);
    }
    wait_for_all();
  }

  void write_neighbour_exchange() {
    messages_ = key_.messages;
    exchange_chunks();
    for (std::int64_t i = 0; i < messages_; ++i) {
      start_receive((rank_ + num_ranks_ - key_.distance()) % num_ranks_, i);
    }
    for (std::int64_t i = 0; i < messages_; ++i) {
      start_send((rank_ + key_.distance()) % num_ranks_, i);
    }
    wait_for_all();
  }

  /// Each with the rank in its place on the other of two nodes; a last node alone has none. In between, as in
  /// collectives, with one of its own node: ranks that came to each exchange together would hide what waits.
  void write_native_exchange() {
    repeats_ = kChainedExchanges;
    const int per_node = key_.distance();
    const int place = rank_ % per_node;
    const Rank other = rank_ / per_node % 2 == 0 ? rank_ + per_node : rank_ - per_node;
    for (std::int64_t i = 0; other < num_ranks_ && i < repeats_; ++i) {
      for (const Rank peer : {other, (place ^ 1) < per_node ? rank_ - place + (place ^ 1) : rank_}) {
        if (peer != rank_) {
          start_receive(peer, 0);
          start_send(peer, 0);
          wait_for_all();
        }
      }
    }
  }

  /// What is sent is what arrived before. With receives posted beforehand always to the right, as in a ring;
  /// otherwise to the right and to the left in turn, as in algorithms whose peers change.
  void write_chained_exchange(bool posted) {
    repeats_ = messages_ = kChainedExchanges;
    const Rank right = (rank_ + 1) % num_ranks_;
    const Rank left = (rank_ + num_ranks_ - 1) % num_ranks_;
    const auto to_the_right = [&](std::int64_t step) { return posted || step % 2 == 0; };
    const auto receive = [&](std::int64_t step) {
      start_receive(to_the_right(step) ? left : right, step);
      return std::exchange(started_, {});
    };
    std::vector<std::vector<std::int32_t>> receives;
    for (std::int64_t i = 0; posted && i < messages_; ++i) {
      receives.push_back(receive(i));
    }
    for (std::int64_t i = 0; i < messages_; ++i) {
      started_ = posted ? receives[static_cast<std::size_t>(i)] : receive(i);
      started_.push_back(program_.add({.kind = StepKind::send,
                                       .peer = to_the_right(i) ? right : left,
                                       .source = i == 0 ? region(kOwn) : region(kArrived, i - 1)}));
      wait_for_all();
    }
  }

  /// As copies of collectives do: what is sent has just been written, and who receives into memory that
  /// another one has read must first get it back.
  void write_exchanges_in_place() {
    repeats_ = kChainedExchanges;
    exchange_chunks();
    for (std::int64_t i = 0; i < kChainedExchanges; ++i) {
      start_receive((rank_ + num_ranks_ - 1) % num_ranks_, i);
      start_send((rank_ + 1) % num_ranks_, i % in_place_);
      wait_for_all();
    }
  }

  void write_send() {
    if (rank_ == key_.first) {
      start_send(key_.second, 0);
    } else if (rank_ == key_.second) {
      start_receive(key_.first, 0);
    }
    wait_for_all();
  }

  void write_fan_out() {
    constexpr Rank kNumTargets = 2;
    messages_ = kNumTargets;
    if (rank_ > kNumTargets) {
      return;
    }
    if (rank_ == 0) {
      start_send(1, 0);
      start_send(2, 1);
    } else {
      start_receive(0, 0);
    }
    wait_for_all();
  }

  /// What is sent second is the sum that has just been made, where there is a third rank to send it to.
  void write_reducing_exchange(std::int64_t times) {
    repeats_ = times;
    staged_ = bytes_;
    exchange_chunks();
    for (std::int64_t i = 0; i < repeats_; ++i) {
      start_receive((rank_ + num_ranks_ - 1) % num_ranks_, i);
      program_.steps.back().target = region(kStaging);
      start_send((rank_ + 1) % num_ranks_, i % in_place_);
      wait_for_all();
      program_.add({.kind = StepKind::reduce, .source = region(kStaging), .target = arrived(i)});
    }
  }

  /// Reduced data has just arrived, as in a collective: in the receiving core's cache, if at all.
  /// A GPU's time is that of all steps, and the cache matters less there: nothing is transferred.
  void write_reductions() {
    repeats_ = through_memory_ ? 1 : std::max<std::int64_t>(kMinBytesReduced / bytes_, 1);
    if (!on_gpu_) {
      start_receive((rank_ + num_ranks_ - 1) % num_ranks_, 0);
      start_send((rank_ + 1) % num_ranks_, 0);
      wait_for_all();
    }
    first_reduction_ = program_.steps.size();
    if (rank_ >= key_.ranks) {
      return;
    }
    for (std::int64_t i = 0; i < repeats_; ++i) {
      program_.add({.kind = StepKind::reduce, .source = region(kArrived), .target = region(kOwn)});
    }
  }

  const ProbeKey& key_;
  Rank rank_;
  int num_ranks_;
  std::int64_t bytes_;
  bool through_memory_;
  bool on_gpu_;
  std::int64_t repeats_ = 1;
  std::int64_t messages_ = 1;
  std::int64_t in_place_ = 0;  ///< Messages that lie in the buffer that is sent from and received into.
  std::int64_t staged_ = 0;
  std::size_t first_reduction_ = 0;
  Program program_;
  std::vector<std::int32_t> started_;
};

}  // namespace

ProbeProgram probe_program(const ProbeKey& key, Rank rank, int num_ranks, RankSite site) {
  return Writer(key, rank, num_ranks, site).take();
}

}  // namespace ringside
