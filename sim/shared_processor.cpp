#include "sim/shared_processor.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "common/error.hpp"
#include "sim/route_cost.hpp"

namespace ringside {

namespace {

constexpr double kLeastCrowding = 0.5;

/// Less is what probes differ by anyway, and nothing to tell people.
constexpr double kNotableCrowding = 1.1;

/// The line through (x0, y0) and (x1, y1).
struct Line {
  double x0 = 0;
  double y0 = 0;
  double x1 = 0;
  double y1 = 0;

  double at(double x) const { return y0 + (y1 - y0) * (x - x0) / (x1 - x0); }
};

/// Index of the point that ends the segment with `x`; 1 … size−1.
std::size_t segment_end(const std::vector<double>& points, double x) {
  const auto above = std::upper_bound(points.begin(), points.end(), x);
  const auto index = static_cast<std::size_t>(above - points.begin());
  return std::clamp<std::size_t>(index, 1, points.size() - 1);
}

}  // namespace

ProcessorCurves::ProcessorCurves(const SharedProcessor& processor, SecondsPerByte reduction)
    : cores_(processor.cores), default_reduction_(reduction.value) {
  for (const TransferPoint& point : processor.transfers) {
    add(transfers_, point.bytes, point.seconds.value);
  }
  for (const ShiftPoint& point : processor.shifts) {
    add(shifts_[point.ranks], point.bytes, point.seconds.value);
  }
  for (const ReductionPoint& point : processor.reductions) {
    add(reductions_, point.bytes, point.cost.value);
  }
  RINGSIDE_CHECK(!transfers_.bytes.empty(), "a shared processor has no measured transfers");
}

/// Points that a logarithm cannot show (nothing sent, no time) say nothing that the floor does not.
void ProcessorCurves::add(Curve& curve, Bytes bytes, double value) {
  if (bytes.value <= 0 || value <= 0) {
    return;
  }
  const auto size = static_cast<double>(bytes.value);
  const auto place = std::lower_bound(curve.bytes.begin(), curve.bytes.end(), size) - curve.bytes.begin();
  curve.bytes.insert(curve.bytes.begin() + place, size);
  curve.values.insert(curve.values.begin() + place, value);
}

/// Between the ends of the curve, on logarithmic axes; beyond them the value at the end.
double ProcessorCurves::interpolate(const Curve& curve, double bytes) {
  if (bytes <= curve.bytes.front()) {
    return curve.values.front();
  }
  if (bytes >= curve.bytes.back()) {
    return curve.values.back();
  }
  const std::size_t end = segment_end(curve.bytes, bytes);
  const Line line{.x0 = std::log(curve.bytes[end - 1]),
                  .y0 = std::log(curve.values[end - 1]),
                  .x1 = std::log(curve.bytes[end]),
                  .y1 = std::log(curve.values[end])};
  return std::exp(line.at(std::log(bytes)));
}

double ProcessorCurves::time(const Curve& curve, double bytes) {
  if (bytes <= curve.bytes.back()) {
    return interpolate(curve, bytes);
  }
  const std::size_t last = curve.bytes.size() - 1;
  const double slope =
      last == 0 ? curve.values[0] / curve.bytes[0]
                : (curve.values[last] - curve.values[last - 1]) / (curve.bytes[last] - curve.bytes[last - 1]);
  return curve.values[last] + std::max(0.0, slope) * (bytes - curve.bytes[last]);
}

double ProcessorCurves::transfer(double bytes) const { return time(transfers_, bytes); }

double ProcessorCurves::reduction(double bytes) const {
  return bytes * (reductions_.bytes.empty() ? default_reduction_ : interpolate(reductions_, bytes));
}

double ProcessorCurves::crowding(int messages, double bytes) const {
  if (messages <= 1) {
    return 1;
  }
  if (shifts_.empty()) {
    return cores_ ? std::max(1.0, static_cast<double>(messages) / *cores_) : 1;
  }
  const auto measured = [&](const std::pair<const int, Curve>& shift) {
    return std::max(kLeastCrowding, time(shift.second, bytes) / transfer(bytes));
  };
  const auto above = shifts_.lower_bound(messages);
  if (above == shifts_.end()) {
    const auto& largest = *shifts_.rbegin();
    return measured(largest) * messages / largest.first;
  }
  if (above->first == messages) {
    return measured(*above);
  }
  const bool first = above == shifts_.begin();
  const Line line{.x0 = first ? 1.0 : std::prev(above)->first,
                  .y0 = first ? 1.0 : measured(*std::prev(above)),
                  .x1 = static_cast<double>(above->first),
                  .y1 = measured(*above)};
  return line.at(messages);
}

ProcessorSharing::ProcessorSharing(const Network& network, Activities& activities)
    : network_(network), activities_(activities), curves_(*network.processor, {reduction_cost(network, 0)}) {}

bool ProcessorSharing::free(const Work& work) const {
  return work.kind != WorkKind::transfer && curves_.reduction(static_cast<double>(work.bytes)) == 0;
}

Activities::Id ProcessorSharing::begin(const Work& work) {
  const auto bytes = static_cast<double>(work.bytes);
  const bool transfer = work.kind == WorkKind::transfer;
  const double alone = transfer ? curves_.transfer(bytes) : curves_.reduction(bytes);
  const Activities::Id id = activities_.begin(transfer_slowdown(network_, work.source, work.target) * alone);
  under_way_.push_back({.id = id, .transfer = transfer, .size = transfer ? size_index(work.bytes) : 0});
  num_transfers_ += transfer ? 1 : 0;
  changed_ = true;
  return id;
}

bool ProcessorSharing::finish(Activities::Id id) {
  const auto done = std::find_if(under_way_.begin(), under_way_.end(),
                                 [id](const UnderWay& activity) { return activity.id == id; });
  num_transfers_ -= done->transfer ? 1 : 0;
  under_way_.erase(done);
  activities_.end(id);
  changed_ = true;
  return true;
}

void ProcessorSharing::share() {
  if (!changed_) {
    return;
  }
  changed_ = false;
  const std::optional<int> cores = network_.processor->cores;
  const double busy = cores ? static_cast<double>(under_way_.size()) / *cores : 1;
  cores_full_ = cores_full_ || busy > 1;
  for (const UnderWay& activity : under_way_) {
    const double slower = activity.transfer ? crowding(activity.size, num_transfers_) : std::max(1.0, busy);
    activities_.set_rate(activity.id, 1 / slower);
    most_crowding_ = std::max(most_crowding_, slower);
  }
}

std::size_t ProcessorSharing::size_index(std::int64_t bytes) {
  const auto known =
      std::find_if(sizes_.begin(), sizes_.end(), [bytes](const Size& size) { return size.bytes == bytes; });
  if (known != sizes_.end()) {
    return static_cast<std::size_t>(known - sizes_.begin());
  }
  sizes_.push_back({.bytes = bytes, .crowding = {}});
  return sizes_.size() - 1;
}

double ProcessorSharing::crowding(std::size_t size, int messages) {
  std::vector<double>& known = sizes_[size].crowding;
  while (static_cast<int>(known.size()) <= messages) {
    known.push_back(
        curves_.crowding(static_cast<int>(known.size()), static_cast<double>(sizes_[size].bytes)));
  }
  return known[static_cast<std::size_t>(messages)];
}

std::vector<std::string> ProcessorSharing::limits() const {
  const std::optional<int> cores = network_.processor->cores;
  if (cores && (cores_full_ || most_crowding_ > 1)) {
    return {fmt::format("{} ranks share {} CPU cores", network_.num_ranks, *cores)};
  }
  if (most_crowding_ > kNotableCrowding) {
    return {fmt::format("messages under way together take {:.1f}× as long as one alone, as probes found",
                        most_crowding_)};
  }
  return {};
}

}  // namespace ringside
