#include "sim/engine/shared_processor.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/error.hpp"
#include "scenario/machine/execution_rules.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

namespace {

constexpr double kLeastContention = 0.5;

/// Less is what probes differ by anyway, and nothing to tell people.
constexpr double kNotableContention = 1.1;

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
  // By ranks times messages: how many are under way at once. Of equal ones that of most ranks, which may
  // have to share cores.
  std::map<ProbeKind, std::map<int, Samples>> by_kind;
  std::map<std::pair<ProbeKind, int>, int> most_ranks;
  for (const Curve& curve : processor.curves) {
    int& most = most_ranks[{curve.kind, curve.ranks * curve.messages}];
    most = std::max(most, curve.ranks);
  }
  for (const Curve& curve : processor.curves) {
    const int under_way = curve.ranks * curve.messages;
    for (const CurvePoint& point : curve.points) {
      if (curve.ranks == most_ranks[{curve.kind, under_way}]) {
        add(by_kind[curve.kind][under_way], point);
      }
    }
  }
  const auto only = [&](ProbeKind kind) {
    const std::map<int, Samples>& curves = by_kind[kind];
    return curves.empty() ? Samples{} : curves.begin()->second;
  };
  transfers_ = only(ProbeKind::ping_pong);
  sends_ = only(ProbeKind::send);
  fan_outs_ = only(ProbeKind::fan_out);
  reductions_ = by_kind[ProbeKind::reduction];
  exchanges_ = by_kind[ProbeKind::neighbour_exchange];
  reducing_ = by_kind[ProbeKind::reducing_exchange];
  writing_ = by_kind[ProbeKind::writing_exchange];
  chained_ = by_kind[ProbeKind::chained_exchange];
  posted_ = by_kind[ProbeKind::chained_exchange_posted];
  RINGSIDE_CHECK(!transfers_.bytes.empty(), "a shared processor has no measured transfers");
}

/// Points that a logarithm cannot show (nothing sent, no time) say nothing that the floor does not.
void ProcessorCurves::add(Samples& curve, const CurvePoint& point) {
  if (point.bytes.value <= 0 || point.value <= 0) {
    return;
  }
  const auto size = static_cast<double>(point.bytes.value);
  const auto place = std::lower_bound(curve.bytes.begin(), curve.bytes.end(), size) - curve.bytes.begin();
  curve.bytes.insert(curve.bytes.begin() + place, size);
  curve.values.insert(curve.values.begin() + place, point.value);
}

/// Between the ends of the curve, on logarithmic axes; beyond them the value at the end.
double ProcessorCurves::interpolate(const Samples& curve, double bytes) {
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

double ProcessorCurves::time(const Samples& curve, double bytes) {
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

double ProcessorCurves::send(double bytes) const {
  return sends_.bytes.empty() ? transfer(bytes) : std::min(time(sends_, bytes), transfer(bytes));
}

double ProcessorCurves::reducing_share(double bytes) const {
  if (reducing_.empty()) {
    return 1;
  }
  const auto& [ranks, reducing] = *reducing_.rbegin();
  const auto exchange = exchanges_.find(ranks);
  return exchange == exchanges_.end() ? 1 : time(reducing, bytes) / time(exchange->second, bytes);
}

std::optional<double> ProcessorCurves::two_shot(int ranks, double bytes) const {
  if (writing_.empty() || exchanges_.empty()) {
    return std::nullopt;
  }
  const auto& [probed, exchange] = probed_for(exchanges_, ranks);
  const bool share_cores = cores_ && ranks > *cores_;
  const double turns = share_cores ? std::max(1.0, static_cast<double>(ranks) / probed) : 1;
  // Beside other load a probe of few bytes can take longer than one of many, which meets, too.
  const double meeting = *std::ranges::min_element(exchange.values);
  if (bytes <= static_cast<double>(one_shot(share_cores).value)) {
    return turns * (meeting + ranks / 2.0 * (time(exchange, bytes) - meeting));
  }
  const Samples& writing = probed_for(writing_, ranks).second;
  const double part = bytes / ranks;
  const double size = std::max(part, writing.bytes.front());
  const double per_byte = std::max(0.0, time(writing, size) - meeting) / size;
  const double on_its_core = share_cores ? static_cast<double>(ranks) / *cores_ : 1;
  return turns * (2 * meeting + (ranks - on_its_core) * per_byte * part);
}

/// The curve for so many at once, or the next; the last beyond.
const std::pair<const int, ProcessorCurves::Samples>& ProcessorCurves::probed_for(
    const std::map<int, Samples>& curves, int number) {
  const auto found = curves.lower_bound(number);
  return found == curves.end() ? *curves.rbegin() : *found;
}

double ProcessorCurves::reduction(double bytes) const {
  const auto alone = reductions_.find(1);
  return bytes * (alone == reductions_.end() ? default_reduction_ : interpolate(alone->second, bytes));
}

double ProcessorCurves::fan_contention(int messages, double bytes) const {
  if (messages <= 1 || fan_outs_.bytes.empty()) {
    return 1;
  }
  return 1 + (messages - 1) * std::max(0.0, time(fan_outs_, bytes) / transfer(bytes) - 1);
}

double ProcessorCurves::reduction_contention(int reductions, double bytes) const {
  const double alone = reduction(bytes);
  return contention_of(reductions_, reductions, [&](const Samples& curve) {
    return std::max(1.0, bytes * interpolate(curve, bytes) / alone);
  });
}

/// Lines through 1 for one activity and `measured` for each curve's number, in proportion beyond.
template <typename Measured>
double ProcessorCurves::contention_of(const std::map<int, Samples>& curves, int number,
                                      const Measured& measured) {
  const auto above = curves.lower_bound(number);
  if (number <= 1 || curves.empty()) {
    return 1;
  }
  if (above == curves.end()) {
    const auto& largest = *curves.rbegin();
    return largest.first == 1 ? 1 : measured(largest.second) * number / largest.first;
  }
  if (above->first == number) {
    return measured(above->second);
  }
  const bool first = above == curves.begin() || std::prev(above)->first == 1;
  const Line line{.x0 = first ? 1.0 : std::prev(above)->first,
                  .y0 = first ? 1.0 : measured(std::prev(above)->second),
                  .x1 = static_cast<double>(above->first),
                  .y1 = measured(above->second)};
  return line.at(number);
}

double ProcessorCurves::contention(int messages, double bytes, Receiver receiver) const {
  if (messages <= 1) {
    return 1;
  }
  if (exchanges_.empty()) {
    return cores_ ? std::max(1.0, static_cast<double>(messages) / *cores_) : 1;
  }
  double share = receiver == Receiver::fresh ? 1 : share_in(chained_, bytes);
  if (receiver == Receiver::ready) {
    share = std::min(share, share_in(posted_, bytes));
  }
  return contention_of(exchanges_, messages, [&](const Samples& exchange) {
    return std::max(kLeastContention, share * time(exchange, bytes) / transfer(bytes));
  });
}

double ProcessorCurves::share_in(const std::map<int, Samples>& chained, double bytes) const {
  if (chained.empty()) {
    return 1;
  }
  const auto& [messages, largest] = *chained.rbegin();
  const auto exchange = exchanges_.find(messages);
  if (exchange == exchanges_.end()) {
    return 1;
  }
  const double probed = std::min(bytes, largest.bytes.back());
  return 1 + (time(largest, probed) - time(exchange->second, probed)) / time(exchange->second, bytes);
}

std::optional<Seconds> two_shot_in_memory(const Network& network, Bytes size) {
  if (!network.processor) {
    return std::nullopt;
  }
  const ProcessorCurves curves(*network.processor, {});
  const auto seconds = curves.two_shot(network.num_ranks, static_cast<double>(size.value));
  return seconds ? std::optional(Seconds{*seconds}) : std::nullopt;
}

ProcessorSharing::ProcessorSharing(const Network& network, Activities& activities)
    : network_(network),
      activities_(activities),
      curves_(*network.processor, {reduction_cost(network, 0)}),
      leaving_(static_cast<std::size_t>(network.num_ranks)),
      reaching_(static_cast<std::size_t>(network.num_ranks)) {}

bool ProcessorSharing::free(const Work& work) const {
  return work.kind != WorkKind::transfer && curves_.reduction(static_cast<double>(work.bytes)) == 0;
}

Activities::Id ProcessorSharing::begin(const Work& work) {
  const auto bytes = static_cast<double>(work.bytes);
  const double slowdown = transfer_slowdown(network_, work.source, work.target);
  // In memory it does not matter that a receive is posted, and what is reduced was probed in later rounds.
  Receiver receiver = work.receiver;
  if (work.reduces) {
    receiver = Receiver::fresh;
  } else if (receiver == Receiver::ready && curves_.through_memory()) {
    receiver = Receiver::in_turn;
  }
  UnderWay activity = {
      .source = work.source, .target = work.target, .bytes = work.bytes, .receiver = receiver};
  if (work.kind != WorkKind::transfer) {
    activity.id = activities_.begin(slowdown * curves_.reduction(bytes));
    ++num_reductions_;
  } else {
    activity.phase = Phase::sending;
    activity.work = slowdown * curves_.transfer(bytes) * (work.reduces ? curves_.reducing_share(bytes) : 1);
    activity.id = activities_.begin(activity.work * curves_.send(bytes) / curves_.transfer(bytes));
    ++num_transfers_;
    if (++between_[{work.source, work.target}] == 1) {
      ++leaving_[static_cast<std::size_t>(work.source)];
      ++reaching_[static_cast<std::size_t>(work.target)];
    }
  }
  under_way_.push_back(activity);
  changed_ = true;
  return activity.id;
}

Stage ProcessorSharing::finish(Activities::Id id) {
  const auto activity = std::ranges::find(under_way_, id, &UnderWay::id);
  changed_ = true;
  const auto bytes = static_cast<double>(activity->bytes);
  if (activity->phase == Phase::sending) {
    const double rest = activity->work * (1 - curves_.send(bytes) / curves_.transfer(bytes));
    if (rest > 0) {
      activity->phase = Phase::arriving;
      activities_.renew(id, rest);
      return Stage::sent;
    }
  }
  if (activity->phase == Phase::local) {
    --num_reductions_;
  } else {
    --num_transfers_;
    if (--between_[{activity->source, activity->target}] == 0) {
      --leaving_[static_cast<std::size_t>(activity->source)];
      --reaching_[static_cast<std::size_t>(activity->target)];
    }
  }
  under_way_.erase(activity);
  activities_.end(id);
  return Stage::done;
}

void ProcessorSharing::share() {
  if (!changed_) {
    return;
  }
  changed_ = false;
  const std::optional<int> cores = network_.processor->cores;
  cores_full_ = cores_full_ || (cores && num_transfers_ + num_reductions_ > *cores);
  for (const UnderWay& activity : under_way_) {
    const double slower = slowdown_of(activity);
    activities_.set_rate(activity.id, 1 / slower);
    if (activity.phase != Phase::local) {
      most_contention_ = std::max(most_contention_, slower);
    }
  }
}

double ProcessorSharing::slowdown_of(const UnderWay& activity) {
  const bool local = activity.phase == Phase::local;
  const int together = local ? num_reductions_ : num_transfers_;
  const int at_one_rank = local ? 0
                                : std::max(leaving_[static_cast<std::size_t>(activity.source)],
                                           reaching_[static_cast<std::size_t>(activity.target)]);
  const auto [known, unknown] =
      factors_.try_emplace({local, activity.bytes, together, at_one_rank, activity.receiver}, 1.0);
  if (unknown) {
    const auto bytes = static_cast<double>(activity.bytes);
    known->second = local ? curves_.reduction_contention(together, bytes)
                          : std::max(curves_.contention(together, bytes, activity.receiver),
                                     curves_.fan_contention(at_one_rank, bytes));
  }
  const std::optional<int> cores = network_.processor->cores;
  const double busy = local && cores ? static_cast<double>(num_transfers_ + num_reductions_) / *cores : 0;
  return std::max(known->second, busy);
}

std::vector<Limit> ProcessorSharing::limits() const {
  const std::optional<int> cores = network_.processor->cores;
  if (cores && (cores_full_ || most_contention_ > 1)) {
    return {{.kind = Limit::Kind::shared_cores, .ranks = network_.num_ranks, .cores = *cores}};
  }
  if (most_contention_ > kNotableContention) {
    return {{.kind = Limit::Kind::contention, .factor = most_contention_}};
  }
  return {};
}

}  // namespace ringside
