#include "real/probe_run.hpp"

#include <algorithm>
#include <cstdint>

#include "common/error.hpp"
#include "real/executor.hpp"
#include "real/timing.hpp"

namespace ringside {
namespace {

/// Of stream and both_ways: enough messages in flight that none waits for the next to be posted, within bounds on
/// memory.
constexpr std::int64_t kMaxInFlight = 8;
constexpr std::int64_t kMaxBytesInFlight = 64LL << 20;

/// A reduction of few bytes is repeated until the clock's own cost no longer counts.
constexpr std::int64_t kMinBytesReduced = 256LL << 10;

constexpr TimingLimits kLimits = {.target_interval = 0.05, .min_calls = 7, .max_calls = 400};

/// Probes are programs, as algorithms are: they run through the executor, each with one buffer that is sent from and
/// one that is received into.
constexpr std::int32_t kOwn = 0;
constexpr std::int32_t kArrived = 1;

class ProbeProgram {
 public:
  ProbeProgram(const ProbeKey& key, Rank rank, int num_ranks)
      : key_(key), rank_(rank), num_ranks_(num_ranks), bytes_(key.bytes.value) {
    RINGSIDE_CHECK(bytes_ > 0 && bytes_ % static_cast<std::int64_t>(sizeof(float)) == 0,
                   "a probe moves whole float32 elements");
    program_ = {.rank = rank, .num_ranks = num_ranks};
    switch (key.kind) {
      case ProbeKind::ping_pong:
        write_ping_pong();
        break;
      case ProbeKind::stream:
        write_stream(rank_ == 1, rank_ == 0);
        break;
      case ProbeKind::both_ways:
        write_stream(rank_ <= 1, rank_ <= 1);
        break;
      case ProbeKind::shift:
        start_receive((rank_ + num_ranks_ - 1) % num_ranks_, 0);
        start_send((rank_ + 1) % num_ranks_, 0);
        wait_for_all();
        break;
      case ProbeKind::reduction:
        write_reductions();
        break;
    }
    program_.buffer_bytes = {bytes_ * messages_, bytes_ * messages_, 0};
  }

  const Program& program() const { return program_; }
  /// How many times a run does what is asked for.
  double repeats() const { return static_cast<double>(repeats_); }

 private:
  Region region(std::int32_t buffer, std::int64_t message = 0) const {
    return {.buffer = buffer, .offset = message * bytes_, .bytes = bytes_};
  }

  void start_receive(Rank source, std::int64_t message) {
    started_.push_back(
        program_.add({.kind = StepKind::receive, .peer = source, .target = region(kArrived, message)}));
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

  void write_ping_pong() {
    repeats_ = 2;  // There and back.
    if (rank_ > 1) {
      return;
    }
    const Rank other = 1 - rank_;
    if (rank_ == 0) {
      start_send(other, 0);
      wait_for_all();
    }
    start_receive(other, 0);
    wait_for_all();
    if (rank_ == 1) {
      start_send(other, 0);
      wait_for_all();
    }
  }

  void write_stream(bool receives, bool sends) {
    repeats_ = messages_ = std::clamp<std::int64_t>(kMaxBytesInFlight / bytes_, 2, kMaxInFlight);
    for (std::int64_t i = 0; receives && i < messages_; ++i) {
      start_receive(1 - rank_, i);
    }
    for (std::int64_t i = 0; sends && i < messages_; ++i) {
      start_send(1 - rank_, i);
    }
    wait_for_all();
  }

  void write_reductions() {
    repeats_ = std::max<std::int64_t>(kMinBytesReduced / bytes_, 1);
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
  std::int64_t repeats_ = 1;
  std::int64_t messages_ = 1;
  Program program_;
  std::vector<std::int32_t> started_;
};

}  // namespace

std::vector<double> run_probe(const ProbeKey& key, Seconds budget, const RankBackend& backend,
                              Coordination& coordination) {
  Transport& transport = *backend.transport;
  const ProbeProgram probe(key, transport.rank(), transport.num_ranks());
  Executor executor(probe.program(), transport);
  TimingLimits limits = kLimits;
  limits.budget = budget;
  // The round trip is over where it began; rank 1's clock would add how far apart the two left the barrier.
  const bool counts = key.kind != ProbeKind::ping_pong || transport.rank() == 0;
  std::vector<double> seconds =
      time_calls({.before = [] {}, .run = [&] { executor.run(); }, .counts = counts}, limits, coordination,
                 backend.progress);
  for (double& value : seconds) {
    value /= probe.repeats();
  }
  return seconds;
}

}  // namespace ringside
