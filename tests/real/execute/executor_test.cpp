#include "real/execute/executor.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/execute/collective_values.hpp"
#include "real/execute/reduce.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "tests/schedule/requests.hpp"
#include "tests/schedule/scripted.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kInputSeed = 3;

Bytes bytes_of(const Vector& vector) {
  return {vector.num_elements * static_cast<std::int64_t>(size_of(vector.dtype))};
}

/// What a rank found wrong where ranks run so, or nothing.
std::string run_at(const RankSiteRow& site, const Schedule& schedule, const Vector& vector,
                   Transport& transport) {
  const CollectiveValues values({.collective = schedule.algorithm().collective,
                                 .num_ranks = schedule.num_ranks(),
                                 .root = schedule.request().root,
                                 .dtype = vector.dtype,
                                 .op = vector.op,
                                 .num_elements = vector.num_elements,
                                 .parts = parts_of(schedule, vector.num_elements)},
                                kInputSeed);
  const ExecutionPolicy policy = policy_for(schedule, bytes_of(vector), site.rules);
  Executor executor(compile(schedule, vector, transport.rank(), policy), transport);
  values.write_input(transport.rank(), executor.message());
  executor.run();
  const std::optional<std::int64_t> wrong = values.first_wrong(transport.rank(), executor.message());
  if (!wrong) {
    return {};
  }
  return fmt::format("{}: {} {}, {} elements, {}: rank {}, element {}: found {}, due {}", label(schedule),
                     name(vector.dtype), name(vector.op), vector.num_elements, describe(policy),
                     transport.rank(), *wrong, values.value_at(executor.message(), *wrong),
                     values.value_due(transport.rank(), *wrong));
}

/// What a rank found wrong, or nothing.
std::string run_once(const Schedule& schedule, const Vector& vector, Transport& transport) {
  std::string wrong;
  for (const RankSiteRow& site : kRankSites) {
    wrong += run_at(site, schedule, vector, transport);
  }
  return wrong;
}

/// All ranks of a schedule, for several vectors one after another.
void expect_exact(const Schedule& schedule, std::span<const Vector> vectors) {
  std::vector<std::string> wrong(static_cast<std::size_t>(schedule.num_ranks()));
  run_as_threads(schedule.num_ranks(), 10s, [&](std::unique_ptr<Transport> transport) {
    std::string& own = wrong[static_cast<std::size_t>(transport->rank())];
    for (const Vector& vector : vectors) {
      own += run_once(schedule, vector, *transport);
    }
  });
  for (const std::string& text : wrong) {
    EXPECT_EQ(text, "");
  }
}

/// Tells when the first transfer of its rank has been started, which needs nobody else.
class TellingTransport : public Transport {
 public:
  TellingTransport(Transport& transport, std::function<void()> arrived)
      : transport_(transport), arrived_(std::move(arrived)) {}
  Rank rank() const override { return transport_.rank(); }
  int num_ranks() const override { return transport_.num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    return std::make_unique<Telling>(transport_.make_send(target, memory), arrived_);
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return std::make_unique<Telling>(transport_.make_receive(source, memory), arrived_);
  }

 private:
  class Telling : public Transfer {
   public:
    Telling(std::unique_ptr<Transfer> transfer, const std::function<void()>& arrived)
        : transfer_(std::move(transfer)), arrived_(arrived) {}
    void start() override {
      transfer_->start();
      arrived_();
    }
    void wait() override { transfer_->wait(); }

   private:
    std::unique_ptr<Transfer> transfer_;
    const std::function<void()>& arrived_;
  };

  Transport& transport_;
  std::function<void()> arrived_;
};

/// Each rank begins when the one before it in this order has started its first transfer, or has none.
std::string run_in_order_of_arrival(const std::vector<Rank>& order, const RankSiteRow& site,
                                    const Schedule& schedule, const Vector& vector) {
  std::vector<std::promise<void>> promises(order.size());
  std::vector<std::string> wrong(order.size());
  run_as_threads(schedule.num_ranks(), 60s, [&](std::unique_ptr<Transport> transport) {
    const auto place =
        static_cast<std::size_t>(std::find(order.begin(), order.end(), transport->rank()) - order.begin());
    std::once_flag once;
    const auto arrive = [&] { std::call_once(once, [&] { promises[place].set_value(); }); };
    if (place > 0) {
      promises[place - 1].get_future().wait();
    }
    TellingTransport telling(*transport, arrive);
    wrong[place] = run_at(site, schedule, vector, telling);
    arrive();
  });
  return std::accumulate(wrong.begin(), wrong.end(), std::string());
}

std::vector<Vector> vectors_of_sizes(std::initializer_list<std::int64_t> sizes) {
  std::vector<Vector> vectors;
  for (const std::int64_t size : sizes) {
    vectors.push_back({.num_elements = size});
  }
  return vectors;
}

TEST(Executor, GivesExactResultsForEveryAlgorithmAndLength) {
  std::vector<ScheduleRequest> requests;
  for (int n = 1; n <= 9; ++n) {
    requests.push_back({.num_ranks = n});
  }
  const std::vector<Vector> vectors = vectors_of_sizes({0, 1, 2, 7, 64, 1009});
  for_each_schedule(requests, [&](const Schedule& schedule) { expect_exact(schedule, vectors); });
}

TEST(Executor, CopiesWholeBuffers) {
  const Schedule schedule = scripted_schedule(
      {.num_buffers = 2,
       .rounds = {{Move{.source_buffer = 0, .target_buffer = 1}},
                  {Move{.kind = MoveKind::reduce, .source_buffer = 1, .target_buffer = 0}}}},
      1);
  std::vector<std::int32_t> numbers(100);
  run_as_threads(1, 10s, [&](std::unique_ptr<Transport> transport) {
    std::iota(numbers.begin(), numbers.end(), 1);
    const Program program = compile(
        schedule, {.num_elements = static_cast<std::int64_t>(numbers.size()), .dtype = DataType::int32}, 0);
    Executor(program, *transport, std::as_writable_bytes(std::span(numbers))).run();
  });
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], 2 * static_cast<std::int32_t>(i + 1)) << "its copy was added to it";
  }
}

TEST(Executor, GivesExactResultsForManyRanks) {
  for (const int n : {16, 33}) {
    for_each_schedule({{.num_ranks = n}}, [&](const Schedule& schedule) {
      expect_exact(schedule, vectors_of_sizes({11, 301}));
    });
  }
}

TEST(Executor, GivesExactResultsForOtherRootsSegmentsAndNodes) {
  for_each_schedule(unusual_requests(), [&](const Schedule& schedule) {
    if (schedule.num_ranks() <= 9) {
      expect_exact(schedule, vectors_of_sizes({5, 101}));
    }
  });
}

TEST(Executor, GivesExactResultsForLongMessagesInSegments) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
    for (const int n : {2, 3, 5}) {
      const Schedule ring(*find_algorithm(collective, "ring"), {.collective = collective, .num_ranks = n});
      // A chunk of a little more than three segments of the usual size, uneven among the ranks.
      const Vector vector = {.num_elements = n * 300'000LL + 1, .op = ReduceOp::avg};
      ASSERT_GT(policy_for(ring, bytes_of(vector), rules_of(RankSite::own_core)).segments, 1);
      ASSERT_GT(policy_for(ring, bytes_of(vector), rules_of(RankSite::shared_cores)).segments, 1);
      expect_exact(ring, std::vector{vector});
    }
  }
}

TEST(Executor, GivesExactResultsInAnyOrderOfRanks) {
  for (const std::vector<Rank>& order : unusual_orders(6)) {
    for (const std::string& algorithm : algorithm_names(Collective::all_reduce)) {
      expect_exact(
          Schedule(*find_algorithm(Collective::all_reduce, algorithm), {.num_ranks = 6, .order = order}),
          vectors_of_sizes({100}));
    }
  }
}

TEST(Executor, GivesExactResultsInAnyOrderOfArrival) {
  std::vector<Rank> order = {0, 1, 2, 3};
  do {
    for_each_schedule({{.num_ranks = 4}}, [&](const Schedule& schedule) {
      for (const RankSiteRow& site : kRankSites) {
        EXPECT_EQ(run_in_order_of_arrival(order, site, schedule, {.num_elements = 37}), "");
      }
    });
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Executor, GivesExactResultsForEveryTypeAndOperation) {
  std::vector<Vector> vectors;
  for (const DataType dtype : {DataType::float32, DataType::float64, DataType::int32, DataType::int64}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg}) {
      vectors.push_back({.num_elements = 53, .dtype = dtype, .op = op});
    }
  }
  for (const int n : {1, 3, 4}) {
    for_each_schedule({{.num_ranks = n}}, [&](const Schedule& schedule) { expect_exact(schedule, vectors); });
  }
}

/// Reduces what arrives, where the executor asks for it.
class ReducingTransport : public Transport {
 public:
  ReducingTransport(Transport& transport, bool leaves_at_once)
      : transport_(transport), leaves_at_once_(leaves_at_once) {}
  Rank rank() const override { return transport_.rank(); }
  int num_ranks() const override { return transport_.num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    return leaves_at_once_ ? std::make_unique<Leaving>(transport_, target, memory)
                           : transport_.make_send(target, memory);
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return transport_.make_receive(source, memory);
  }
  std::unique_ptr<Transfer> make_reducing_receive(Rank source, const Reduction& reduction) override {
    return std::make_unique<Reducing>(transport_, source, reduction);
  }
  bool leaves_at_once(std::span<const std::byte>) const override { return leaves_at_once_; }

 private:
  class Reducing : public Transfer {
   public:
    Reducing(Transport& transport, Rank source, const Reduction& reduction)
        : reduction_(reduction),
          arrived_(reduction.target.size()),
          receive_(transport.make_receive(source, arrived_)) {}
    void start() override { receive_->start(); }
    void wait() override {
      receive_->wait();
      reduce_into(reduction_.target.data(), arrived_.data(), reduction_.num_elements(), reduction_.dtype,
                  reduction_.op);
    }

   private:
    Reduction reduction_;
    std::vector<std::byte> arrived_;
    std::unique_ptr<Transfer> receive_;
  };
  /// Sends a copy of what the memory holds at its start.
  class Leaving : public Transfer {
   public:
    Leaving(Transport& transport, Rank target, std::span<const std::byte> memory)
        : memory_(memory), copy_(memory.size()), send_(transport.make_send(target, copy_)) {}
    void start() override {
      std::ranges::copy(memory_, copy_.begin());
      send_->start();
    }
    void wait() override { send_->wait(); }

   private:
    std::span<const std::byte> memory_;
    std::vector<std::byte> copy_;
    std::unique_ptr<Transfer> send_;
  };

  Transport& transport_;
  bool leaves_at_once_;
};

TEST(Executor, GivesExactResultsWhereMessagesAreReducedAsTheyArrive) {
  const std::vector<Vector> vectors = {{.num_elements = 64}, {.num_elements = 301, .dtype = DataType::int64}};
  std::vector<ScheduleRequest> requests;
  for (int n = 2; n <= 6; ++n) {
    requests.push_back({.num_ranks = n});
  }
  for_each_schedule(requests, [&](const Schedule& schedule) {
    std::vector<std::string> wrong(static_cast<std::size_t>(schedule.num_ranks()));
    run_as_threads(schedule.num_ranks(), 10s, [&](std::unique_ptr<Transport> transport) {
      for (const bool leaves_at_once : {false, true}) {
        ReducingTransport reducing(*transport, leaves_at_once);
        for (const Vector& vector : vectors) {
          wrong[static_cast<std::size_t>(transport->rank())] += run_once(schedule, vector, reducing);
        }
      }
    });
    EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), std::string()), "");
  });
}

TEST(Executor, RefusesWhatWasCompiledForOthers) {
  const Schedule schedule(known_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 1});
  const Program program = compile(schedule, {.num_elements = 4}, 0);
  run_as_threads(1, 10s, [&](std::unique_ptr<Transport> transport) {
    std::vector<std::byte> message(16);
    Executor borrowed(program, *transport, message);
    EXPECT_EQ(borrowed.message().data(), message.data());
    std::vector<StepTime> times(program.steps.size() + 1);
    EXPECT_THROW(borrowed.run(times), Bug);
    for (const std::size_t other : {12U, 20U}) {
      message.resize(other);
      EXPECT_THROW(Executor(program, *transport, message), Bug);
    }
    Program of_others = program;
    of_others.rank = 1;
    EXPECT_THROW(Executor(of_others, *transport), Bug);
    of_others = program;
    of_others.num_ranks = 2;
    EXPECT_THROW(Executor(of_others, *transport), Bug);
  });
}

TEST(Executor, WritesDownWhenEachStepBeganAndEnded) {
  const Schedule schedule(known_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 2});
  run_as_threads(2, 10s, [&](std::unique_ptr<Transport> transport) {
    Executor executor(compile(schedule, {.num_elements = 4}, transport->rank()), *transport);
    std::vector<StepTime> times(executor.program().steps.size());
    Seconds earlier = steady_now();
    EXPECT_GT(earlier.value, 0);
    executor.run(times);
    for (const StepTime& time : times) {
      EXPECT_LE(earlier, time.begin);
      EXPECT_LE(time.begin, time.end);
      earlier = time.end;
    }
    EXPECT_LE(earlier, steady_now());
  });
}

}  // namespace
}  // namespace ringside
