#include "schedule/schedule.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {
namespace {

[[noreturn]] void refuse(const std::string& reason) { throw Error(ErrorKind::bad_input, reason); }

void check_request(const ScheduleRequest& request) {
  if (request.num_ranks < 1) {
    refuse(fmt::format("a schedule needs at least 1 rank, not {}", request.num_ranks));
  }
  if (request.root < 0 || request.root >= request.num_ranks) {
    refuse(fmt::format("root {} is not a rank; with {} ranks it can be 0 to {}", request.root,
                       request.num_ranks, request.num_ranks - 1));
  }
  if (request.ranks_per_node < 0) {
    refuse(fmt::format("ranks per node must be 0 (one node) or more, not {}", request.ranks_per_node));
  }
  if (request.segments < 0) {
    refuse(fmt::format("segments must be 0 (the algorithm's default) or more, not {}", request.segments));
  }
}

/// `order` inverted: the position of each rank.
std::vector<Rank> positions_of_ranks(const std::vector<Rank>& order, int num_ranks) {
  if (order.size() != static_cast<std::size_t>(num_ranks)) {
    refuse(fmt::format("the order of ranks names {} ranks but there are {}", order.size(), num_ranks));
  }
  constexpr Rank kUnseen = -1;
  std::vector<Rank> positions(order.size(), kUnseen);
  for (std::size_t position = 0; position < order.size(); ++position) {
    const Rank rank = order[position];
    if (rank < 0 || rank >= num_ranks) {
      refuse(fmt::format("the order of ranks names rank {}, but ranks are 0 to {}", rank, num_ranks - 1));
    }
    Rank& seen = positions[static_cast<std::size_t>(rank)];
    if (seen != kUnseen) {
      refuse(fmt::format("the order of ranks names rank {} twice", rank));
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
  positions_ = request_;
  positions_.order.clear();
  if (!request_.order.empty()) {
    const std::vector<Rank> positions = positions_of_ranks(request_.order, request_.num_ranks);
    if (std::is_sorted(positions.begin(), positions.end())) {
      request_.order.clear();  // The identity.
    } else if (scattered(algorithm.collective)) {
      refuse(fmt::format(
          "{} gives each rank its own part of the message, so it cannot run in another order of ranks",
          name(algorithm.collective)));
    }
    positions_.root = positions[static_cast<std::size_t>(request_.root)];
  }
  if (algorithm.unsupported != nullptr) {
    if (const std::optional<std::string> reason = algorithm.unsupported(positions_)) {
      refuse(*reason);
    }
  }
  shape_ = algorithm.shape(positions_);
}

CriticalPath Schedule::critical_path() const { return algorithm_->critical_path(positions_); }

bool Schedule::several_at_once() const {
  return algorithm_->several_at_once != nullptr && algorithm_->several_at_once(positions_);
}

std::vector<RepeatedRounds> Schedule::repeats() const {
  std::vector<RepeatedRounds> lines;
  std::int64_t next = 0;
  const auto one_by_one = [&](std::int64_t end) {
    for (; next < end; ++next) {
      lines.push_back({.first = next});
    }
  };
  if (algorithm_->repeats != nullptr) {
    for (const RepeatedRounds& line : algorithm_->repeats(positions_)) {
      RINGSIDE_CHECK(line.first >= next && line.period >= 1 && line.times >= 0 && line.end() <= num_rounds(),
                     "repeated rounds overlap or are none of the schedule's");
      if (line.times > 0) {
        one_by_one(line.first);
        lines.push_back(line);
        next = line.end();
      }
    }
  }
  one_by_one(num_rounds());
  return lines;
}

void Schedule::write_round(std::int64_t round, std::vector<Move>& moves) const {
  moves.clear();
  RoundWriter writer(moves);
  algorithm_->write_round(positions_, round, writer);
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
