#include "real/slices.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "real/landing.hpp"
#include "real/rank_rounds.hpp"
#include "schedule/chunk_layout.hpp"

namespace ringside {
namespace {

/// A few slices fit into a core's own cache, and still a message costs little beside its bytes. docs/measuring.md
/// tells how this was found.
constexpr std::int64_t kSliceBytes = 384 << 10;

/// Fewer slices are too few to overlap.
constexpr std::int64_t kMinSlices = 3;

/// Steps between two rounds of a slice. While one round of it is reduced, its other slices are in flight: so many
/// steps' transfers are under way at once.
constexpr std::int64_t kDepth = 4;

std::int64_t num_slices(const Schedule& schedule, const Vector& vector) {
  const std::int64_t longest = ChunkLayout(vector.num_elements, schedule.num_chunks()).elements(0).count *
                               static_cast<std::int64_t>(size_of(vector.dtype));
  return (longest + kSliceBytes - 1) / kSliceBytes;
}

bool keeps_links_busy(const Schedule& schedule) {
  constexpr Rank kNobody = -1;
  std::vector<Rank> targets(static_cast<std::size_t>(schedule.num_ranks()), kNobody);
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    std::vector<bool> sends(targets.size(), false);
    for (const Move& move : moves) {
      const auto source = static_cast<std::size_t>(move.source);
      const bool same_target = targets[source] == kNobody || targets[source] == move.target;
      if (move.local() || move.num_chunks != 1 || sends[source] || !same_target) {
        return false;
      }
      sends[source] = true;
      targets[source] = move.target;
    }
    if (std::find(sends.begin(), sends.end(), false) != sends.end()) {
      return false;
    }
  }
  return true;
}

/// All slices of a chunk together are the chunk, whichever rank asks.
Region slice_of(const Region& chunk, std::int64_t index, std::int64_t count) {
  const auto cut = [&](std::int64_t i) {
    return std::min(chunk.bytes, cache_lines(chunk.bytes * i / count));
  };
  return {.buffer = chunk.buffer, .offset = chunk.offset + cut(index), .bytes = cut(index + 1) - cut(index)};
}

/// Slice g does round t in step g + kDepth·t: a wave of slices, in the same order at all ranks.
class Wave {
 public:
  Wave(std::vector<RankRound> rounds, std::int64_t num_slices, Program& program)
      : rounds_(std::move(rounds)),
        num_slices_(num_slices),
        program_(program),
        in_flight_(static_cast<std::size_t>(num_slices)) {}

  void compile() {
    const std::int64_t num_rounds = std::ssize(rounds_);
    const std::int64_t num_steps = num_slices_ + kDepth * num_rounds;
    for (std::int64_t step = 0; step < num_steps; ++step) {
      // Slices that are further ahead come first: others wait for them.
      for_each_slice(step, num_rounds, [&](std::int64_t slice, std::int64_t round) {
        reduce(slice);
        if (round < num_rounds) {
          start(slice, rounds_[static_cast<std::size_t>(round)]);
        }
      });
      for_each_slice(step - (kDepth - 1), num_rounds - 1,
                     [&](std::int64_t slice, std::int64_t) { wait(slice); });
    }
    program_.buffer_bytes[static_cast<std::size_t>(program_.landing())] = allocator_.peak();
  }

 private:
  /// One round of one slice.
  struct InFlight {
    std::vector<std::int32_t> transfers;
    std::vector<Step> reductions;  ///< Of what has arrived when the transfers are over.
  };

  template <typename Function>
  void for_each_slice(std::int64_t step, std::int64_t last_round, Function function) const {
    for (std::int64_t round = std::min(step / kDepth, last_round); round >= 0; --round) {
      const std::int64_t slice = step - kDepth * round;
      if (slice >= 0 && slice < num_slices_) {
        function(slice, round);
      }
    }
  }

  void start(std::int64_t slice, const RankRound& round) {
    InFlight& in_flight = in_flight_[static_cast<std::size_t>(slice)];
    for (const RankRound::Transfer& receive : round.receives) {
      const Region place = slice_of(receive.region, slice, num_slices_);
      Region target = place;
      if (receive.kind == MoveKind::reduce) {
        target = {.buffer = program_.landing(),
                  .offset = allocator_.take(place.bytes, place.offset),
                  .bytes = place.bytes};
        in_flight.reductions.push_back({.kind = StepKind::reduce,
                                        .peer = receive.peer,
                                        .source = target,
                                        .target = place,
                                        .origin = receive.origin});
      }
      in_flight.transfers.push_back(program_.add(
          {.kind = StepKind::receive, .peer = receive.peer, .target = target, .origin = receive.origin}));
    }
    for (const RankRound::Transfer& send : round.sends) {
      in_flight.transfers.push_back(program_.add({.kind = StepKind::send,
                                                  .peer = send.peer,
                                                  .source = slice_of(send.region, slice, num_slices_),
                                                  .origin = send.origin}));
    }
  }

  void wait(std::int64_t slice) {
    InFlight& in_flight = in_flight_[static_cast<std::size_t>(slice)];
    for (const std::int32_t transfer : in_flight.transfers) {
      program_.add({.kind = StepKind::wait, .transfer = transfer});
    }
    in_flight.transfers.clear();
  }

  void reduce(std::int64_t slice) {
    InFlight& in_flight = in_flight_[static_cast<std::size_t>(slice)];
    for (const Step& reduction : in_flight.reductions) {
      program_.add(reduction);
      allocator_.give_back(reduction.source.offset);
    }
    in_flight.reductions.clear();
  }

  std::vector<RankRound> rounds_;
  std::int64_t num_slices_;
  Program& program_;
  LandingAllocator allocator_;
  std::vector<InFlight> in_flight_;  ///< Per slice.
};

}  // namespace

bool gains_from_slices(const Schedule& schedule, const Vector& vector) {
  return num_slices(schedule, vector) >= kMinSlices && keeps_links_busy(schedule);
}

void add_rounds_in_slices(const Schedule& schedule, const Vector& vector, Program& program) {
  std::vector<RankRound> rounds;
  RankRounds reader(schedule, vector, program.rank);
  RankRound round;
  for (reader.next(round); !round.empty(); reader.next(round)) {
    rounds.push_back(round);
  }
  RINGSIDE_CHECK(std::ssize(rounds) == schedule.num_rounds(), "a rank has a part in every round");
  Wave(std::move(rounds), num_slices(schedule, vector), program).compile();
}

}  // namespace ringside
