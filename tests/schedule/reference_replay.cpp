#include "reference_replay.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ringside {
namespace {

struct RankState {
  double ready = 0;        ///< When it reaches the next round.
  double engine_free = 0;  ///< When it could start another reduction.
};

/// A reduction that waits for its data, or for a send that still reads what it changes.
struct Reduction {
  double ready = 0;
  Move move;
};

class Replay {
 public:
  Replay(const Schedule& schedule, const Costs& costs)
      : costs_(costs),
        num_chunks_(schedule.num_chunks()),
        num_buffers_(schedule.num_buffers()),
        ranks_(static_cast<std::size_t>(schedule.num_ranks())),
        reduced_at_(ranks_.size() * static_cast<std::size_t>(num_chunks_ * num_buffers_), 0.0) {}

  void run_round(const std::vector<Move>& moves) {
    std::vector<RankState> next = ranks_;
    std::unordered_set<Rank> busy_links;
    std::vector<Reduction> reductions;
    std::vector<double> ends;
    std::vector<std::vector<std::size_t>> sends(ranks_.size());
    for (const Move& move : moves) {
      sends[static_cast<std::size_t>(move.source)].push_back(ends.size());
      const double start = std::max({at(ranks_, move.source).ready, at(ranks_, move.target).ready,
                                     reduced(move.source, move.source_buffer, move),
                                     reduced(move.target, move.target_buffer, move)});
      if (move.local()) {
        ends.push_back(start);
        if (move.kind == MoveKind::reduce) {
          ends.back() = reduce(next, start, move);
        }
      } else {
        if (!busy_links.insert(move.source * static_cast<Rank>(ranks_.size()) + move.target).second) {
          throw std::logic_error("two messages at once on one link");
        }
        ends.push_back(start + costs_.alpha + costs_.beta * size(move));
      }
      at(next, move.source).ready = std::max(at(next, move.source).ready, ends.back());
      at(next, move.target).ready = std::max(at(next, move.target).ready, ends.back());
    }
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (moves[i].kind != MoveKind::reduce || moves[i].local()) {
        continue;
      }
      double ready = ends[i];
      for (const std::size_t j : sends[static_cast<std::size_t>(moves[i].target)]) {
        if (reads_what_is_reduced(moves[j], moves[i])) {
          ready = std::max(ready, ends[j]);
        }
      }
      reductions.push_back({ready, moves[i]});
    }
    std::stable_sort(reductions.begin(), reductions.end(),
                     [](const Reduction& a, const Reduction& b) { return a.ready < b.ready; });
    for (const Reduction& reduction : reductions) {
      reduce(next, reduction.ready, reduction.move);
    }
    ranks_ = std::move(next);
  }

  double end() const {
    double last = 0;
    for (const RankState& rank : ranks_) {
      last = std::max({last, rank.ready, rank.engine_free});
    }
    return last;
  }

 private:
  static RankState& at(std::vector<RankState>& ranks, Rank rank) {
    return ranks[static_cast<std::size_t>(rank)];
  }

  double size(const Move& move) const { return static_cast<double>(move.num_chunks) / num_chunks_; }

  double& reduced_at(Rank rank, int buffer, int chunk) {
    return reduced_at_[static_cast<std::size_t>((rank * num_buffers_ + buffer) * num_chunks_ + chunk)];
  }

  /// When the reductions into the move's chunks at this place are done.
  double reduced(Rank rank, int buffer, const Move& move) {
    double last = 0;
    for (int chunk = 0; chunk < move.num_chunks; ++chunk) {
      last = std::max(last, reduced_at(rank, buffer, move.first_chunk + chunk));
    }
    return last;
  }

  static bool reads_what_is_reduced(const Move& read, const Move& reduction) {
    return read.source == reduction.target && read.source_buffer == reduction.target_buffer &&
           read.first_chunk < reduction.first_chunk + reduction.num_chunks &&
           reduction.first_chunk < read.first_chunk + read.num_chunks;
  }

  /// One reduction at a time per rank; returns when this one is done.
  double reduce(std::vector<RankState>& ranks, double ready, const Move& move) {
    double& engine_free = at(ranks, move.target).engine_free;
    engine_free = std::max(engine_free, ready) + costs_.gamma * size(move);
    for (int chunk = 0; chunk < move.num_chunks; ++chunk) {
      reduced_at(move.target, move.target_buffer, move.first_chunk + chunk) = engine_free;
    }
    return engine_free;
  }

  Costs costs_;
  int num_chunks_;
  int num_buffers_;
  std::vector<RankState> ranks_;
  std::vector<double> reduced_at_;
};

}  // namespace

double reference_replay(const Schedule& schedule, const Costs& costs) {
  Replay replay(schedule, costs);
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    replay.run_round(moves);
  }
  return replay.end();
}

}  // namespace ringside
