#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "real/backend/threads/transport.hpp"
#include "real/execute/coordination.hpp"
#include "real/measure/point_measurement.hpp"
#include "schedule/registry.hpp"

/// A single bit of a single message of a timed call, in every message of every algorithm.
namespace ringside {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 4;
/// The first call warms up; the next one is timed.
constexpr int kTimedCall = 1;

/// Which message, by the rank that receives it and its place among the receives of that rank.
struct Flip {
  Rank rank = 0;
  int receive = 0;
  bool made = false;
};

class FlippingTransport final : public Transport {
 public:
  FlippingTransport(Transport& transport, Flip& flip) : transport_(transport), flip_(flip) {}

  Rank rank() const override { return transport_.rank(); }
  int num_ranks() const override { return transport_.num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    return transport_.make_send(target, memory);
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    std::unique_ptr<Transfer> transfer = transport_.make_receive(source, memory);
    if (receives_++ != flip_.receive) {
      return transfer;
    }
    return std::make_unique<FlippedReceive>(std::move(transfer), memory, flip_);
  }

 private:
  class FlippedReceive final : public Transfer {
   public:
    FlippedReceive(std::unique_ptr<Transfer> transfer, std::span<std::byte> memory, Flip& flip)
        : transfer_(std::move(transfer)), memory_(memory), flip_(flip) {}
    void start() override { transfer_->start(); }
    void wait() override {
      transfer_->wait();
      if (calls_++ == kTimedCall) {
        // Another bit in each message; a prime, so that all places in an element have their turn.
        const std::size_t bit = (static_cast<std::size_t>(flip_.receive) * 7919 +
                                 static_cast<std::size_t>(flip_.rank) * 104'729) %
                                (memory_.size() * 8);
        memory_[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        flip_.made = true;
      }
    }

   private:
    std::unique_ptr<Transfer> transfer_;
    std::span<std::byte> memory_;
    Flip& flip_;
    int calls_ = 0;
  };

  Transport& transport_;
  Flip& flip_;
  int receives_ = 0;
};

Measurement measured_with(const PointKey& key, Flip& flip) {
  MeasureOptions options = {.launch = {.backend = Backend::threads, .timeout = 20s},
                            .budget_per_point = {0},
                            .min_iterations = 2,
                            .max_iterations = 2};
  Measurement result;
  run_as_threads(key.ranks, 20s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    RankBackend backend;
    backend.backend = Backend::threads;
    const Rank rank = transport->rank();
    // What ranks agree on around the calls is no payload.
    if (rank == flip.rank) {
      backend.transport = std::make_unique<FlippingTransport>(*transport, flip);
    } else {
      backend.transport = std::move(transport);
    }
    const Measurement own = measure_point(request_of(key, options), backend, coordination);
    if (rank == 0) {
      result = own;
    }
  });
  return result;
}

/// The only payload without influence: the last hop of the tutorials' ring brings what all have.
bool is_unused(const Algorithm& algorithm, int receive) {
  return algorithm.name == std::string_view("tutorial_ring") && receive == 2 * (kRanks - 1) - 1;
}

TEST(BitFlips, AreToldInEveryMessageOfEveryAlgorithm) {
  int flips = 0;
  for (const Algorithm& algorithm : all_algorithms()) {
    const PointKey key = {.collective = algorithm.collective,
                          .algorithm = std::string(algorithm.name),
                          .ranks = kRanks,
                          .bytes = {4 * 404},
                          .dtype = DataType::int32};
    for (Rank rank = 0; rank < kRanks; ++rank) {
      for (int receive = 0;; ++receive) {
        Flip flip = {.rank = rank, .receive = receive};
        const Measurement measurement = measured_with(key, flip);
        if (!flip.made) {
          EXPECT_EQ(measurement.outcome, Outcome::ok) << algorithm.name << ": " << measurement.note;
          break;  // This rank receives no more messages.
        }
        if (is_unused(algorithm, receive)) {
          EXPECT_EQ(measurement.outcome, Outcome::ok) << measurement.note;
          continue;
        }
        ++flips;
        EXPECT_EQ(measurement.outcome, Outcome::wrong_result)
            << name(algorithm.collective) << " " << algorithm.name << ", receive " << receive << " of rank "
            << rank;
      }
    }
  }
  RecordProperty("flips", flips);
  fmt::print("{} bits flipped, one by one\n", flips);
  EXPECT_GE(flips, 100);
}

}  // namespace
}  // namespace ringside
