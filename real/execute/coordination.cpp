#include "real/execute/coordination.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace ringside {
namespace {

constexpr Rank kCollector = 0;

void run(const std::unique_ptr<Transfer>& transfer) {
  transfer->start();
  transfer->wait();
}

}  // namespace

Coordination::Coordination(Transport& transport) : transport_(transport) {
  // Dissemination barrier: after step k every rank knows of 2^(k+1) ranks. D. Hensgen, R. Finkel, U. Manber,
  // "Two algorithms for barrier synchronization", International Journal of Parallel Programming 17(1), 1988.
  const int n = transport.num_ranks();
  const Rank rank = transport.rank();
  for (int distance = 1; distance < n; distance *= 2) {
    barrier_.push_back(
        {.receive = transport.make_receive((rank + n - distance) % n, std::span(&received_, 1)),
         .send = transport.make_send((rank + distance) % n, std::span(&token_, 1))});
  }
}

void Coordination::barrier() {
  for (const BarrierStep& step : barrier_) {
    step.receive->start();
    step.send->start();
    step.receive->wait();
    step.send->wait();
  }
}

std::vector<double> Coordination::maximum(std::span<const double> own) {
  std::vector<double> result(own.begin(), own.end());
  if (own.empty()) {
    return result;
  }
  if (transport_.rank() != kCollector) {
    run(transport_.make_send(kCollector, std::as_bytes(std::span(result))));
    run(transport_.make_receive(kCollector, std::as_writable_bytes(std::span(result))));
    return result;
  }
  std::vector<double> other(own.size());
  for (Rank rank = 1; rank < transport_.num_ranks(); ++rank) {
    run(transport_.make_receive(rank, std::as_writable_bytes(std::span(other))));
    std::ranges::transform(result, other, result.begin(), [](double a, double b) { return std::max(a, b); });
  }
  for (Rank rank = 1; rank < transport_.num_ranks(); ++rank) {
    run(transport_.make_send(rank, std::as_bytes(std::span(result))));
  }
  return result;
}

bool Coordination::anywhere(bool own) {
  const double value = own ? 1 : 0;
  return maximum(std::span(&value, 1)).front() > 0;
}

std::vector<double> Coordination::all_values(double own) {
  // Nothing is smaller than −∞, so each value survives the maximum.
  std::vector<double> values(static_cast<std::size_t>(transport_.num_ranks()),
                             -std::numeric_limits<double>::infinity());
  values[static_cast<std::size_t>(transport_.rank())] = own;
  return maximum(values);
}

std::vector<std::string> Coordination::texts(const std::string& own) {
  constexpr std::size_t kLetters = 96;
  // Each rank fills its own part; what ranks can agree on is the largest of numbers.
  std::vector<double> letters(static_cast<std::size_t>(transport_.num_ranks()) * kLetters);
  const auto first = letters.begin() + rank() * static_cast<std::ptrdiff_t>(kLetters);
  std::transform(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(std::min(own.size(), kLetters)),
                 first, [](char letter) { return static_cast<unsigned char>(letter); });
  letters = maximum(letters);
  std::vector<std::string> texts(static_cast<std::size_t>(transport_.num_ranks()));
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] > 0) {
      texts[i / kLetters] += static_cast<char>(letters[i]);
    }
  }
  return texts;
}

std::vector<std::vector<double>> Coordination::gathered(std::span<const double> own) {
  const std::vector<double> sizes = all_values(static_cast<double>(own.size()));
  std::vector<std::vector<double>> values;
  if (transport_.rank() != kCollector) {
    if (!own.empty()) {
      run(transport_.make_send(kCollector, std::as_bytes(own)));
    }
    return values;
  }
  values.emplace_back(own.begin(), own.end());
  for (Rank rank = 1; rank < transport_.num_ranks(); ++rank) {
    values.emplace_back(static_cast<std::size_t>(sizes[static_cast<std::size_t>(rank)]));
    if (!values.back().empty()) {
      run(transport_.make_receive(rank, std::as_writable_bytes(std::span(values.back()))));
    }
  }
  return values;
}

}  // namespace ringside
