#include "analysis/plan/step_model.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "common/error.hpp"

namespace ringside {
namespace {

constexpr Bytes kPiece{1 << 20};
constexpr std::int64_t kMostPieces = 1 << 16;
constexpr Bytes kNoCap{std::numeric_limits<std::int64_t>::max()};

/// A total of which nothing else is known; above 64 GiB pieces grow with it.
std::vector<Gradient> even_pieces(Bytes total) {
  std::vector<Gradient> pieces;
  const Bytes piece{kPiece.value * ((total.value - 1) / (kPiece.value * kMostPieces) + 1)};
  const double share = static_cast<double>(piece.value) / static_cast<double>(total.value);
  for (std::int64_t left = total.value; left > 0; left -= piece.value) {
    const Bytes bytes{std::min(left, piece.value)};
    pieces.push_back(
        {.bytes = bytes, .share = bytes == piece ? share : 1 - share * static_cast<double>(pieces.size())});
  }
  return pieces;
}

std::vector<Bucket> capped_buckets(const std::vector<Gradient>& gradients, Bytes first_cap, Bytes cap) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (std::size_t index = 0; index < gradients.size(); ++index) {
    ++open.count;
    open.bytes.value += gradients[index].bytes.value;
    if (open.bytes >= (buckets.empty() ? first_cap : cap)) {
      buckets.push_back(open);
      open = {.first = index + 1, .count = 0, .bytes = {}};
    }
  }
  if (open.count > 0) {
    buckets.push_back(open);
  }
  return buckets;
}

/// When each gradient has arrived, as a share of the backward pass.
std::vector<double> arrivals(const std::vector<Gradient>& gradients) {
  std::vector<double> times;
  double spent = 0;
  for (const Gradient& gradient : gradients) {
    spent += gradient.share;
    times.push_back(std::min(spent, 1.0));
  }
  return times;
}

}  // namespace

std::vector<Gradient> arriving_gradients(const Workload& workload) {
  if (workload.tensors.empty()) {
    return even_pieces(gradient_bytes(workload));
  }
  double flops = 0;
  for (const Tensor& tensor : workload.tensors) {
    flops += tensor.forward_flops;
  }
  const auto element = static_cast<std::int64_t>(size_of(workload.gradients));
  std::vector<Gradient> gradients;
  std::transform(workload.tensors.rbegin(), workload.tensors.rend(), std::back_inserter(gradients),
                 [&](const Tensor& tensor) {
                   const double share = flops > 0 ? tensor.forward_flops / flops
                                                  : static_cast<double>(tensor.elements) /
                                                        static_cast<double>(workload.parameters);
                   return Gradient{.bytes = {tensor.elements * element}, .share = share};
                 });
  return gradients;
}

std::vector<Bucket> make_buckets(const std::vector<Gradient>& gradients,
                                 const SynchronisationSettings& settings) {
  switch (settings.style) {
    case Synchronisation::per_tensor:
      return capped_buckets(gradients, {}, {});
    case Synchronisation::one_bucket:
      return capped_buckets(gradients, kNoCap, kNoCap);
    case Synchronisation::ddp:
    case Synchronisation::ddp_without_overlap:
      return capped_buckets(gradients, settings.first_bucket, settings.bucket);
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a way to synchronise has no buckets");
}

double expected_largest(int count) {
  if (count < 2) {
    return 0;
  }
  // A mean is the integral of 1 − F above zero minus that of F, the distribution function, below it;
  // of the largest of n, F is Φ to the n. Equal steps are exact to many digits for such a smooth function.
  constexpr double kStep = 0.05;
  constexpr double kReach = 6;
  double mean = 0;
  for (double x = kStep / 2; x < kReach; x += kStep) {
    const auto below = [&](double at) { return std::pow(0.5 * std::erfc(-at / std::sqrt(2.0)), count); };
    mean += kStep * (1 - below(x) - below(-x));
  }
  return mean;
}

TrainingStep simulate_step(const StepRequest& request, const AllReduceCost& all_reduce) {
  const std::vector<double> arrived = arrivals(request.gradients);
  TrainingStep step;
  step.compute = request.accumulate * (request.forward + request.backward);
  step.waiting = request.waiting;
  for (const Bucket& bucket : request.buckets) {
    RINGSIDE_CHECK(bucket.count > 0, "a bucket is empty");
    const Seconds cost = all_reduce(bucket.bytes);
    step.communication = step.communication + cost;
    step.buckets.push_back({.bucket = bucket, .ready = {}, .start = {}, .end = cost});
  }
  const Seconds last_backward = step.compute - request.backward;
  // Starts and ends of all_reduces beside a last backward pass longer by step.slowed; what remains.
  const auto place = [&] {
    const Seconds backward = request.backward + step.slowed;
    const Seconds computed = last_backward + backward;
    Seconds stream_free = last_backward;
    for (BucketTimes& times : step.buckets) {
      const Seconds cost = times.end - times.start;
      times.ready = last_backward + arrived[times.bucket.first + times.bucket.count - 1] * backward;
      times.start = std::max(stream_free, request.overlap ? times.ready : computed);
      times.end = times.start + cost;
      stream_free = times.end;
    }
    return std::max(computed, stream_free) - computed;
  };
  // A longer backward pass hides more, which slows it down further, up to all but the last bucket.
  constexpr int kMostRounds = 100;
  constexpr double kSettled = 1e-9;
  Seconds left = place();
  for (int round = 0; round < kMostRounds && request.slowdown > 0; ++round) {
    const Seconds slowed = request.slowdown * (step.communication - left);
    const bool settled = slowed.value - step.slowed.value <= kSettled * step.compute.value;
    step.slowed = slowed;
    left = place();
    if (settled) {
      break;
    }
  }
  step.exposed = step.slowed + left;
  step.total = step.compute + step.exposed + step.waiting;
  return step;
}

}  // namespace ringside
