#include "real/probe/probe.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/launch/message.hpp"
#include "real/probe/probe_run.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A fake device for tests: it keeps the program that it is given, and runs nothing. Its times are these two
/// in turn.
class KeepingDevice final : public RankDevice {
 public:
  explicit KeepingDevice(Program& kept, double one = 1e-6, double other = 1e-3)
      : kept_(kept), one_(one), other_(other) {}
  bool shares_gpu() const override { return false; }
  std::unique_ptr<ReadyCall> make_ready(const Program& program) override {
    kept_ = program;
    return std::make_unique<NoCall>(one_, other_);
  }
  std::unique_ptr<ReadyCall> make_ready(const CollectiveCall&) override { return nullptr; }
  std::unique_ptr<DeviceCalls> make_calls() override { return nullptr; }

 private:
  class NoCall final : public ReadyCall {
   public:
    NoCall(double one, double other) : one_(one), other_(other) {}
    void warm_up() override {}
    double run() override { return calls_++ % 2 == 0 ? one_ : other_; }
    void write_input(const CollectiveValues&) override {}
    std::optional<WrongElement> first_wrong(const CollectiveValues&) override { return std::nullopt; }
    std::optional<CallLaunch> launch() const override { return std::nullopt; }
    Executor* executor() override { return nullptr; }

   private:
    double one_;
    double other_;
    int calls_ = 0;
  };

  Program& kept_;
  double one_;
  double other_;
};

TEST(Probe, OfReductionsTransfersNothingOnAGpuWhoseTimeIsThatOfAllSteps) {
  std::vector<Program> programs(2);
  run_as_threads(2, 5s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    RankBackend backend;
    backend.transport = std::move(transport);
    backend.device =
        std::make_unique<KeepingDevice>(programs[static_cast<std::size_t>(backend.transport->rank())]);
    const ProbeKey key = {.kind = ProbeKind::reduction, .ranks = 1, .bytes = {1 << 20}};
    kProbe.run(message_of(ProbeRequest{.key = key}), backend, coordination);
  });
  ASSERT_EQ(programs[0].steps.size(), 1U);
  EXPECT_EQ(programs[0].steps[0].kind, StepKind::reduce);
  EXPECT_THAT(programs[1].steps, IsEmpty());
}

/// The times of a reduction of so many bytes that takes one time and another in turn.
std::vector<double> times_of(std::int64_t bytes, double budget, double one = 1e-6, double other = 1e-3) {
  std::vector<double> times;
  run_as_threads(1, 20s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    RankBackend backend = threads_rank(std::move(transport));
    Program program;
    backend.device = std::make_unique<KeepingDevice>(program, one, other);
    const ProbeKey key = {.kind = ProbeKind::reduction, .ranks = 1, .bytes = {bytes}};
    times = value_of<std::vector<double>>(
        kProbe.run(message_of(ProbeRequest{.key = key, .budget = {budget}}), backend, coordination));
  });
  return times;
}

TEST(Probe, LongMessagesAreSentOnceBesideTheWarmUp) {
  EXPECT_THAT(times_of(64, 0), SizeIs(3));
  EXPECT_THAT(times_of(1 << 20, 0), SizeIs(3));
  EXPECT_THAT(times_of((1 << 20) + 4, 0), SizeIs(1));
  EXPECT_THAT(times_of(128 << 10, 0), ElementsAre(1e-3 / 2, 1e-6 / 2, 1e-3 / 2)) << "each call reduces twice";
}

TEST(Probe, IsOverWhenItsTimeIsKnownToFivePercent) {
  EXPECT_THAT(times_of(64, 600, 1e-6, 1.04e-6), SizeIs(::testing::Lt(20U)));
  EXPECT_THAT(times_of(64, 600, 1e-6, 1.07e-6), SizeIs(400));
}

/// Sends that are over at once; counts them.
class CountingTransport final : public Transport {
 public:
  explicit CountingTransport(int& sends) : sends_(sends) {}
  Rank rank() const override { return 0; }
  int num_ranks() const override { return 2; }
  std::unique_ptr<Transfer> make_send(Rank, std::span<const std::byte>) override {
    return std::make_unique<Send>(sends_);
  }
  std::unique_ptr<Transfer> make_receive(Rank, std::span<std::byte>) override { return nullptr; }

 private:
  class Send final : public Transfer {
   public:
    explicit Send(int& sends) : sends_(sends) {}
    void start() override { ++sends_; }
    void wait() override {}

   private:
    int& sends_;
  };

  int& sends_;
};

/// Sends that are not counted before those that are, at most in several attempts.
int warm_up_of(std::int64_t bytes, RankSite site) {
  int most = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    run_as_threads(1, 20s, [&](std::unique_ptr<Transport> transport) {
      Coordination coordination(*transport);
      int sends = 0;
      RankBackend backend = threads_rank(std::make_unique<CountingTransport>(sends));
      backend.cpu_site = site;
      const ProbeKey key = {.kind = ProbeKind::send, .bytes = {bytes}};
      const auto times = value_of<std::vector<double>>(
          kProbe.run(message_of(ProbeRequest{.key = key, .budget = {0.1}}), backend, coordination));
      most = std::max(most, sends - static_cast<int>(times.size()));
    });
  }
  return most;
}

TEST(Probe, LongCopiesThroughMemoryAreWarmedUpForLonger) {
  EXPECT_GT(warm_up_of(128 << 10, RankSite::memory), 10);
  EXPECT_LE(warm_up_of((128 << 10) - 4, RankSite::memory), 10);
  EXPECT_LE(warm_up_of(128 << 10, RankSite::cpu), 10);
}

TEST(Probe, MakesFourHundredCallsAtMost) {
  run_as_threads(1, 5s, [](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    RankBackend backend;
    backend.transport = std::move(transport);
    Program program;
    backend.device = std::make_unique<KeepingDevice>(program);
    const ProbeKey key = {.kind = ProbeKind::reduction, .ranks = 1, .bytes = {4096}};
    const std::string seconds =
        kProbe.run(message_of(ProbeRequest{.key = key, .budget = {600}}), backend, coordination);
    EXPECT_THAT(value_of<std::vector<double>>(seconds), SizeIs(400));
  });
}

/// Another transport, of which it keeps how much memory was asked for.
class KeepingTransport final : public Transport {
 public:
  KeepingTransport(std::unique_ptr<Transport> other, std::vector<std::int64_t>& kept)
      : other_(std::move(other)), kept_(kept) {}
  Rank rank() const override { return other_->rank(); }
  int num_ranks() const override { return other_->num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    return other_->make_send(target, memory);
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return other_->make_receive(source, memory);
  }
  OwnMemory allocate(std::int64_t bytes) override {
    kept_.push_back(bytes);
    return other_->allocate(bytes);
  }

 private:
  std::unique_ptr<Transport> other_;
  std::vector<std::int64_t>& kept_;
};

/// How much memory rank 0 of three asks for, to exchange 4 KiB with its neighbours.
std::vector<std::int64_t> memory_of_exchange(RankSite site) {
  std::vector<std::int64_t> memory;
  run_as_threads(3, 5s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    std::vector<std::int64_t> own;
    RankBackend backend = threads_rank(std::make_unique<KeepingTransport>(std::move(transport), own));
    backend.cpu_site = site;
    const ProbeKey key = {.kind = ProbeKind::neighbour_exchange, .bytes = {4096}};
    kProbe.run(message_of(ProbeRequest{.key = key}), backend, coordination);
    if (backend.transport->rank() == 0) {
      memory = own;
    }
  });
  return memory;
}

TEST(Probe, OfExchangesWhereRanksSeeOneMemorySendsChunksOfAMessageOfAllRanks) {
  EXPECT_THAT(memory_of_exchange(RankSite::memory), ElementsAre(3 * 4096, 0, 0));
  EXPECT_THAT(memory_of_exchange(RankSite::cpu), ElementsAre(4096, 4096, 0));
}

TEST(Probe, CoversEveryKindSizeAndNumberOfRanks) {
  const ProbeOptions options = {.launch = {.backend = Backend::threads, .timeout = 5s},
                                .budget = {0},
                                .ranks = {3, 2},
                                .max_bytes = {20'000}};
  std::map<std::pair<ProbeKind, int>, std::vector<std::int64_t>> sizes;
  std::map<int, std::vector<std::int64_t>> crowded;
  std::vector<double> fractions;
  std::vector<std::string> said;
  const std::vector<ProbeSample> samples = probe(options, [&](double fraction, std::string_view what) {
    fractions.push_back(fraction);
    said.emplace_back(what);
  });
  std::vector<std::string> due;
  for (const ProbeSample& sample : samples) {
    due.push_back(
        fmt::format("{}, {} ranks, {}", name(sample.key.kind), sample.key.ranks, format(sample.key.bytes)));
  }
  due.emplace_back("done");
  EXPECT_EQ(said, due) << "without time for more, each is run once";
  EXPECT_EQ(said.front(), "ping_pong, 2 ranks, 8 B");
  for (const int ranks : {2, 3}) {  // Short messages leave their time to longer ones.
    std::vector<Bytes> in_order;
    for (const ProbeSample& sample : samples) {
      if (sample.key.ranks == ranks && (ranks == 3 || sample.key.kind != ProbeKind::reduction)) {
        in_order.push_back(sample.key.bytes);
      }
    }
    EXPECT_TRUE(std::ranges::is_sorted(in_order)) << ranks;
  }
  for (const ProbeSample& sample : samples) {
    EXPECT_THAT(sample.seconds, Not(IsEmpty()));
    EXPECT_THAT(sample.seconds, Each(Gt(0.0)));
    if (sample.key.messages == 1) {
      sizes[{sample.key.kind, sample.key.ranks}].push_back(sample.key.bytes.value);
    } else {
      EXPECT_EQ(sample.key.kind, ProbeKind::neighbour_exchange);
      crowded[sample.key.ranks].push_back(sample.key.bytes.value);
    }
  }
  const auto messages = ElementsAre(8, 32, 128, 512, 2048, 8192, 20'000);
  const auto operands = ElementsAre(4096, 16384, 20'000);
  EXPECT_EQ(sizes.size(), 12U);
  EXPECT_THAT((sizes[{ProbeKind::ping_pong, 2}]), messages);
  EXPECT_THAT((sizes[{ProbeKind::neighbour_exchange, 2}]), messages);
  EXPECT_THAT((sizes[{ProbeKind::neighbour_exchange, 3}]), messages);
  EXPECT_THAT((sizes[{ProbeKind::chained_exchange, 2}]), messages);
  EXPECT_THAT((sizes[{ProbeKind::chained_exchange, 3}]), messages);
  EXPECT_THAT((sizes[{ProbeKind::chained_exchange_posted, 2}]), messages);
  EXPECT_THAT((sizes[{ProbeKind::chained_exchange_posted, 3}]), messages);
  EXPECT_THAT((sizes[{ProbeKind::send, 2}]), messages);
  EXPECT_THAT((sizes[{ProbeKind::fan_out, 3}]), messages);
  EXPECT_THAT(crowded[2], messages);
  EXPECT_THAT(crowded[3], messages);
  EXPECT_THAT((sizes[{ProbeKind::reduction, 1}]), operands);
  EXPECT_THAT((sizes[{ProbeKind::reduction, 2}]), operands);
  EXPECT_THAT((sizes[{ProbeKind::reduction, 3}]), operands);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);
}

TEST(Probe, TransfersThatReduceNothingStartAtTheSmallestMessageForAnyNumberOfRanks) {
  std::vector<std::int64_t> sizes;
  for (const ProbeSample& sample : probe({.launch = {.backend = Backend::threads, .timeout = 5s},
                                   .budget = {0},
                                   .ranks = {4},
                                   .max_bytes = {64}},
                                         {})) {
    if (sample.key.kind == ProbeKind::neighbour_exchange && sample.key.messages == 1) {
      sizes.push_back(sample.key.bytes.value);
    }
  }
  EXPECT_THAT(sizes, ElementsAre(8, 32, 64));
}

TEST(Probe, EveryRepetitionGoesOverAllProbes) {
  // Under a sanitizer and beside other load, one takes 3 s, and a second must fit into the budget.
  std::vector<ProbeKey> keys;
  for (const ProbeSample& sample : probe({.launch = {.backend = Backend::threads, .timeout = 5s},
                                   .budget = {10},
                                   .max_bytes = {64},
                                   .repetitions = 2},
                                         {})) {
    keys.push_back(sample.key);
  }
  ASSERT_EQ(keys.size() % 2, 0U);
  EXPECT_TRUE(std::equal(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2),
                         keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2)));
}

TEST(Probe, LooksAtEveryPairInBothDirections) {
  const std::vector<ProbeSample> samples =
      probe_pairs({.launch = {.backend = Backend::threads, .timeout = 5s},
                   .budget = {0},
                   .ranks = {2, 3},
                   .max_bytes = {20'000}},
                  {});
  std::map<ProbeKind, std::vector<std::pair<Rank, Rank>>> pairs;
  for (const ProbeSample& sample : samples) {
    EXPECT_THAT(sample.seconds, Not(IsEmpty()));
    EXPECT_THAT(sample.seconds, Each(Gt(0.0))) << name(sample.key.kind);
    pairs[sample.key.kind].emplace_back(sample.key.first, sample.key.second);
  }
  using Pairs = std::vector<std::pair<Rank, Rank>>;
  EXPECT_EQ(pairs[ProbeKind::ping_pong], (Pairs{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(pairs[ProbeKind::stream], (Pairs{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}}));
  EXPECT_EQ(pairs[ProbeKind::both_ways], (Pairs{{0, 1}, {0, 2}, {1, 2}}));
}

TEST(Probe, RefusesMessagesTooShortToProbe) {
  EXPECT_THROW(probe({.launch = {.backend = Backend::threads}, .max_bytes = {4}}, {}), Error);
}

}  // namespace
}  // namespace ringside
