#include "real/coordination.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace ringside {

Coordination::Coordination(Transport& transport) : transport_(transport) {
  // Dissemination barrier: after step k every rank knows of 2^(k+1) ranks. Source: D. Hensgen, R. Finkel, U. Manber,
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
  if (transport_.num_ranks() == 1 || own.empty()) {
    return result;
  }
  constexpr Rank kCollector = 0;
  const auto run = [](const std::unique_ptr<Transfer>& transfer) {
    transfer->start();
    transfer->wait();
  };
  if (transport_.rank() != kCollector) {
    run(transport_.make_send(kCollector, std::as_bytes(std::span(result))));
    run(transport_.make_receive(kCollector, std::as_writable_bytes(std::span(result))));
    return result;
  }
  std::vector<double> other(own.size());
  for (Rank rank = 1; rank < transport_.num_ranks(); ++rank) {
    run(transport_.make_receive(rank, std::as_writable_bytes(std::span(other))));
    std::transform(result.begin(), result.end(), other.begin(), result.begin(),
                   [](double a, double b) { return std::max(a, b); });
  }
  for (Rank rank = 1; rank < transport_.num_ranks(); ++rank) {
    run(transport_.make_send(rank, std::as_bytes(std::span(result))));
  }
  return result;
}

std::vector<double> Coordination::all_values(double own) {
  // Nothing is smaller than −∞, so each value survives the maximum.
  std::vector<double> values(static_cast<std::size_t>(transport_.num_ranks()),
                             -std::numeric_limits<double>::infinity());
  values[static_cast<std::size_t>(transport_.rank())] = own;
  return maximum(values);
}

}  // namespace ringside
