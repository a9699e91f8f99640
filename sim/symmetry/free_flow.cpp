#include "sim/symmetry/free_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

#include "common/numbers.hpp"
#include "sim/symmetry/find.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

namespace {

/// Moves of rounds that differ, at most: looking at them takes a tenth of a second, and 150 MB.
constexpr std::size_t kMostMoves = 200'000;
/// Rounding of a sum of rates that is equal to a capacity.
constexpr double kRounding = 1 + 1e-12;

/// What ranks send, or receive, over each link at one time at most.
class MostAtOnce {
 public:
  explicit MostAtOnce(std::size_t num_links) : of_link_(num_links) {}

  /// `rate` more of a rank over a link in this round. Returns the sum over all ranks, bytes per second.
  double add(std::int32_t link, Rank rank, std::int64_t round, double rate) {
    OfLink& all = of_link_[at(link)];
    if (all.first_rank == kNobody) {
      all.first_rank = rank;
    }
    Share& share = all.first_rank == rank ? all.of_first : of_others_[key(link, rank)];
    share.now = (share.round == round ? share.now : 0) + rate;
    share.round = round;
    all.sum += std::max(0.0, share.now - share.most);
    share.most = std::max(share.most, share.now);
    return all.sum;
  }

 private:
  static constexpr Rank kNobody = -1;

  struct Share {
    std::int64_t round = -1;
    double now = 0;   ///< In that round.
    double most = 0;  ///< In any round.
  };
  /// Most links have one rank that sends over them, and one that receives.
  struct OfLink {
    Rank first_rank = kNobody;
    Share of_first;
    double sum = 0;  ///< The most of each rank, together.
  };

  static std::uint64_t key(std::int32_t link, Rank rank) {
    return (static_cast<std::uint64_t>(link) << 32) | static_cast<std::uint32_t>(rank);
  }

  std::vector<OfLink> of_link_;
  std::unordered_map<std::uint64_t, Share> of_others_;
};

class FreeFlow {
 public:
  explicit FreeFlow(const Network& network)
      : network_(network),
        links_(network.topology->links()),
        uses_(links_.size()),
        sent_(links_.size()),
        received_(links_.size()) {}

  /// Whether all links still have room for what may be on them at one time.
  bool add(const Move& move, std::int64_t round) {
    network_.topology->route(move.source, move.target, route_);
    const double rate = 1 / route_cost(links_, route_).inverse_bandwidth;
    for (const std::int32_t link : route_) {
      uses_[at(link)].carried = true;
      const double inverse_capacity = inverse(links_[at(link)].capacity).value;
      if (inverse_capacity == 0) {
        continue;
      }
      const double most =
          std::min(sent_.add(link, move.source, round, rate), received_.add(link, move.target, round, rate));
      if (most * inverse_capacity > kRounding) {
        return false;
      }
    }
    return true;
  }

  std::vector<LinkUse> uses() && { return std::move(uses_); }

 private:
  const Network& network_;
  std::span<const Link> links_;
  std::vector<LinkUse> uses_;
  MostAtOnce sent_;
  MostAtOnce received_;
  std::vector<std::int32_t> route_;
};

}  // namespace

std::optional<std::vector<LinkUse>> links_of_free_flow(const Execution& execution, const Network& network) {
  if (symmetry_obstacle(execution, network) || execution.has_empty_chunks()) {
    return std::nullopt;
  }
  FreeFlow flow(network);
  std::vector<Move> moves;
  std::size_t looked_at = 0;
  for (const RepeatedRounds& line : execution.schedule().repeats()) {
    // Their images have moves between the same ranks.
    for (std::int64_t round = line.first; round < line.first + line.period; ++round) {
      execution.write_round(round, moves);
      looked_at += moves.size();
      if (looked_at > kMostMoves || std::ranges::any_of(moves, [&](const Move& move) {
            return !move.local() && !flow.add(move, round);
          })) {
        return std::nullopt;
      }
    }
  }
  return std::move(flow).uses();
}

}  // namespace ringside
