#include "bench/executor/timed_calls.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>

namespace peer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMinCalls = 5;
constexpr int kMaxCalls = 2000;
constexpr int kMaxWarmUpCalls = 10;
constexpr double kWarmUpShare = 0.1;

/// Contributions repeat after a prime number of elements, which no piece of a message is a multiple of.
constexpr std::size_t kPeriod = 251;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

float value(int rank, std::size_t index) {
  constexpr std::size_t kStride = 17;
  return static_cast<float>((index + kStride * static_cast<std::size_t>(rank)) % kPeriod);
}

struct Batch {
  std::vector<double> samples;  ///< Times of the slowest rank, call by call.
  double seconds = 0;           ///< All of it, restored input and barriers included.
};

Batch run_batch(const Call& call, int count, const Ranks& ranks) {
  const Clock::time_point start = Clock::now();
  std::vector<double> own;
  own.reserve(static_cast<std::size_t>(count) + 1);
  for (int i = 0; i < count; ++i) {
    call.before();
    ranks.barrier();
    const Clock::time_point begin = Clock::now();
    call.run();
    own.push_back(seconds_since(begin));
    ranks.barrier();  // As ringside's: who is early does not take a shared core from those who still receive.
  }
  own.push_back(seconds_since(start));
  ranks.maximum(own);
  const double seconds = own.back();
  own.pop_back();
  return {std::move(own), seconds};
}

int calls_within(double seconds, double seconds_per_call, int min, int max) {
  return seconds_per_call > 0 ? static_cast<int>(std::clamp(seconds / seconds_per_call, 1.0 * min, 1.0 * max))
                              : max;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Time time_calls(const Call& call, double budget, const Ranks& ranks) {
  // All ranks know the same seconds, so they make the same number of calls.
  const Batch first = run_batch(call, 1, ranks);
  const int more = calls_within(kWarmUpShare * budget, first.seconds, 1, kMaxWarmUpCalls - 1);
  const Batch warm = run_batch(call, more, ranks);
  const int calls = calls_within(budget, warm.seconds / more, kMinCalls, kMaxCalls);
  return {median(run_batch(call, calls, ranks).samples), calls};
}

std::vector<float> contribution(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = value(rank, i);
  }
  return values;
}

void require_sum(const Ranks& ranks, std::span<const float> message) {
  std::array<float, kPeriod> due{};
  for (std::size_t i = 0; i < kPeriod; ++i) {
    for (int rank = 0; rank < ranks.num_ranks; ++rank) {
      due[i] += value(rank, i);
    }
  }
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message[i] != due[i % kPeriod]) {
      throw std::runtime_error(fmt::format("rank {} has {} at element {}, where the sum is {}", ranks.rank,
                                           message[i], i, due[i % kPeriod]));
    }
  }
}

void print(const Ranks& ranks, const std::string& library, const std::string& variant, std::size_t bytes,
           const Time& time) {
  if (ranks.rank == 0) {
    fmt::print(R"({{"library":"{}","variant":"{}","bytes":{},"seconds":{:.9g},"calls":{}}})"
               "\n",
               library, variant, bytes, time.seconds, time.calls);
    std::fflush(stdout);
  }
}

}  // namespace peer
