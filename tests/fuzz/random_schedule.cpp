#include "random_schedule.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside::fuzz {
namespace {

using Rounds = std::vector<std::vector<Move>>;

struct Written {
  std::int32_t num_chunks = 1;
  Rounds rounds = {};
};

Written& current() {
  static Written written;
  return written;
}

const Algorithm& of_current() {
  static constexpr Algorithm kAlgorithm = {
      .name = "random",
      .collective = Collective::all_reduce,
      .summary = "random trees",
      .wins_when = "never",
      .unsupported = nullptr,
      .outline = [](const ScheduleRequest&) -> Outline {
        const auto write = [](std::int64_t round, RoundWriter& writer) {
          for (const Move& move : current().rounds[static_cast<std::size_t>(round)]) {
            writer.add(move);
          }
        };
        return {.num_chunks = current().num_chunks,
                .phases = {{.num_rounds = static_cast<std::int64_t>(current().rounds.size()),
                            .write = write,
                            .several_at_once = true}}};
      }};
  return kAlgorithm;
}

std::vector<Rank> random_order(Choices& choices, int num_ranks) {
  std::vector<Rank> order(static_cast<std::size_t>(num_ranks));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[choices.below(static_cast<std::uint32_t>(i))]);
  }
  return order;
}

/// Where each but the first of so many hangs: on one before it.
std::vector<std::size_t> random_parents(Choices& choices, std::size_t count) {
  std::vector<std::size_t> parents(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    parents[i] = choices.below(static_cast<std::uint32_t>(i));
  }
  return parents;
}

/// Not before `round`, and where nothing else goes the same way: on a private link too, two messages at once
/// would share it. Returns the round.
std::size_t add(Rounds& rounds, std::size_t round, const Move& move) {
  const auto is_taken = [&] {
    return std::any_of(rounds[round].begin(), rounds[round].end(), [&](const Move& other) {
      return other.source == move.source && other.target == move.target;
    });
  };
  while (round < rounds.size() && is_taken()) {
    ++round;
  }
  rounds.resize(std::max(rounds.size(), round + 1));
  rounds[round].push_back(move);
  return round;
}

void write_chunk(Choices& choices, std::int32_t chunk, int num_ranks, Rounds& rounds) {
  const auto later = [&] { return std::size_t{choices.below(4) == 0 ? choices.below(3) : 0U}; };
  std::vector<Rank> order = random_order(choices, num_ranks);
  const std::size_t count = order.size();
  const std::vector<std::size_t> up = random_parents(choices, count);
  std::vector<std::size_t> ready(count, 0);  // The round from which on a rank has all that comes from below.
  for (std::size_t i = count; i-- > 1;) {
    const std::size_t round = add(rounds, ready[i] + later(),
                                  {.source = order[i],
                                   .target = order[up[i]],
                                   .first_chunk = chunk,
                                   .num_chunks = 1,
                                   .kind = MoveKind::reduce});
    ready[up[i]] = std::max(ready[up[i]], round + 1);
  }
  // The way back from the same root, along another tree.
  const std::size_t all_in = ready[0];
  std::vector<Rank> others(order.begin() + 1, order.end());
  const std::vector<Rank> shuffled = random_order(choices, num_ranks - 1);
  for (std::size_t i = 1; i < count; ++i) {
    order[i] = others[static_cast<std::size_t>(shuffled[i - 1])];
  }
  const std::vector<std::size_t> down = random_parents(choices, count);
  std::vector<std::size_t> has(count, all_in);
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t round =
        add(rounds, has[down[i]] + later(),
            {.source = order[down[i]], .target = order[i], .first_chunk = chunk, .num_chunks = 1});
    has[i] = round + 1;
  }
}

}  // namespace

std::uint32_t Choices::below(std::uint32_t end) {
  std::uint32_t value = 0;
  for (int byte = 0; byte < (end > 256 ? 2 : 1) && !bytes_.empty(); ++byte) {
    value = value << 8U | static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
  }
  return value % end;
}

Schedule random_all_reduce(Choices& choices, int num_ranks) {
  Written written{.num_chunks = static_cast<std::int32_t>(1 + choices.below(5))};
  for (std::int32_t chunk = 0; chunk < written.num_chunks && num_ranks > 1; ++chunk) {
    write_chunk(choices, chunk, num_ranks, written.rounds);
  }
  current() = std::move(written);
  return Schedule(of_current(), {.num_ranks = num_ranks});
}

Schedule random_algorithm(Choices& choices, int num_ranks) {
  const auto algorithms = all_algorithms();
  const Algorithm& algorithm = algorithms[choices.below(static_cast<std::uint32_t>(algorithms.size()))];
  ScheduleRequest request{.collective = algorithm.collective, .num_ranks = num_ranks};
  request.ranks_per_node = static_cast<int>(choices.below(static_cast<std::uint32_t>(num_ranks) + 1));
  request.segments = static_cast<int>(choices.below(6));
  if (!scattered(algorithm.collective)) {
    request.order = random_order(choices, num_ranks);
    request.root = static_cast<Rank>(choices.below(static_cast<std::uint32_t>(num_ranks)));
  }
  if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
    return Schedule(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = num_ranks});
  }
  return Schedule(algorithm, request);
}

}  // namespace ringside::fuzz
