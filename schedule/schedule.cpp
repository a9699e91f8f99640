#include "schedule/schedule.hpp"

#include <algorithm>
#include <utility>

#include "common/failures.hpp"

namespace ringside {
namespace {

void check_request(const ScheduleRequest& request) {
  if (request.num_ranks < 1) {
    throw bad_input("a schedule needs at least 1 rank, not {}", request.num_ranks);
  }
  if (request.root < 0 || request.root >= request.num_ranks) {
    throw bad_input("root {} is not a rank; with {} ranks it can be 0 to {}", request.root, request.num_ranks,
                    request.num_ranks - 1);
  }
  if (request.ranks_per_node < 0) {
    throw bad_input("ranks per node must be 0 (one node) or more, not {}", request.ranks_per_node);
  }
  if (request.segments < 0) {
    throw bad_input("segments must be 0 (the algorithm's default) or more, not {}", request.segments);
  }
}

/// `order` inverted: the position of each rank.
std::vector<Rank> positions_of_ranks(const std::vector<Rank>& order, int num_ranks) {
  if (order.size() != static_cast<std::size_t>(num_ranks)) {
    throw bad_input("the order of ranks names {} ranks but there are {}", order.size(), num_ranks);
  }
  constexpr Rank kUnseen = -1;
  std::vector<Rank> positions(order.size(), kUnseen);
  for (std::size_t position = 0; position < order.size(); ++position) {
    const Rank rank = order[position];
    if (rank < 0 || rank >= num_ranks) {
      throw bad_input("the order of ranks names rank {}, but ranks are 0 to {}", rank, num_ranks - 1);
    }
    Rank& seen = positions[static_cast<std::size_t>(rank)];
    if (seen != kUnseen) {
      throw bad_input("the order of ranks names rank {} twice", rank);
    }
    seen = static_cast<Rank>(position);
  }
  return positions;
}

bool holds(const Schedule& schedule, Held what, Rank rank, std::int32_t chunk) {
  const int n = schedule.num_ranks();
  const auto owner = [&] { return chunk / (schedule.num_chunks() / n); };
  switch (what) {
    case Held::everything:
      return true;
    case Held::everything_at_root:
      return rank == schedule.request().root;
    case Held::own_part:
      return rank == owner();
    case Held::part_of_each:
      return rank == chunk % n;
    case Held::previous_part:
      return rank == (owner() + 1) % n;
  }
  throw_bug("a declared value", __FILE__, __LINE__, "no rank holds such a part");
}

}  // namespace

Schedule::Schedule(const Algorithm& algorithm, ScheduleRequest request)
    : algorithm_(&algorithm), request_(std::move(request)) {
  check_request(request_);
  request_.collective = algorithm.collective;
  ScheduleRequest positions = request_;  // What the algorithm sees.
  positions.order.clear();
  if (!request_.order.empty()) {
    const std::vector<Rank> of_ranks = positions_of_ranks(request_.order, request_.num_ranks);
    if (std::is_sorted(of_ranks.begin(), of_ranks.end())) {
      request_.order.clear();  // The identity.
    } else if (scattered(algorithm.collective)) {
      throw bad_input(
          "{} gives each rank its own part of the message, so it cannot run in another order of ranks",
          name(algorithm.collective));
    }
    positions.root = of_ranks[static_cast<std::size_t>(request_.root)];
  }
  if (algorithm.unsupported != nullptr) {
    if (const std::optional<std::string> reason = algorithm.unsupported(positions)) {
      throw Error(ErrorKind::bad_input, *reason);
    }
  }
  outline_ = std::make_shared<const Outline>(algorithm.outline(positions));
  for (const Phase& phase : outline_->phases) {
    num_rounds_ += phase.num_rounds;
  }
}

CriticalPath Schedule::critical_path() const {
  CriticalPath path;  // In chunks, which are whole numbers, so that parts of a message are rounded once.
  for (const Phase& phase : outline_->phases) {
    path.messages += static_cast<double>(phase.num_rounds - phase.local_rounds);
    path.bytes += phase.chunks;
    path.reduced_bytes += phase.reduced_chunks;
  }
  path.bytes /= num_chunks();
  path.reduced_bytes /= num_chunks();
  return path;
}

bool Schedule::several_at_once() const {
  return std::ranges::any_of(outline_->phases, [](const Phase& phase) { return phase.several_at_once; });
}

std::vector<RepeatedRounds> Schedule::repeats() const {
  std::vector<RepeatedRounds> lines;
  std::int64_t first = 0;
  for (const Phase& phase : outline_->phases) {
    const std::int64_t end = first + phase.num_rounds;
    if (phase.period > 0 && phase.num_rounds > 0) {
      lines.push_back({.first = first,
                       .period = phase.period,
                       .times = phase.num_rounds / phase.period,
                       .passes_on = phase.passes_on});
      first = lines.back().end();
    }
    for (; first < end; ++first) {
      lines.push_back({.first = first});
    }
  }
  return lines;
}

void Schedule::write_round(std::int64_t round, std::vector<Move>& moves) const {
  moves.clear();
  RoundWriter writer(moves);
  auto phase = outline_->phases.begin();
  for (; round >= phase->num_rounds; ++phase) {
    round -= phase->num_rounds;
  }
  phase->write(round, writer);
  if (!request_.order.empty()) {
    for (Move& move : moves) {
      move.source = request_.order[static_cast<std::size_t>(move.source)];
      move.target = request_.order[static_cast<std::size_t>(move.target)];
    }
  }
}

ScheduleRequest request_for(Collective collective, int num_ranks, const RankPlacement& placement) {
  return {.collective = collective,
          .num_ranks = num_ranks,
          .ranks_per_node = placement.ranks_per_node,
          .order = scattered(collective) ? std::vector<Rank>{} : placement.order};
}

Bytes buffer_of_message(Collective collective, int num_ranks, Bytes message) {
  return {message.value * messages_in_buffer(collective, num_ranks)};
}

Bytes buffer_of(const PointKey& key) { return buffer_of_message(key.collective, key.ranks, key.bytes); }

bool holds_at_start(const Schedule& schedule, Rank rank, std::int32_t chunk) {
  return holds(schedule, row_of(schedule.algorithm().collective).starts, rank, chunk);
}

bool promised_at_end(const Schedule& schedule, Rank rank, std::int32_t chunk) {
  return holds(schedule, row_of(schedule.algorithm().collective).ends, rank, chunk);
}

}  // namespace ringside
