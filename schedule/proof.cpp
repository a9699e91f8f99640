#include "schedule/proof.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"

namespace ringside {
namespace {

/// A broken schedule breaks in thousands of places; the first ones tell why.
constexpr std::size_t kMaxFaults = 20;

class Faults {
 public:
  void add(std::string sentence) {
    ++count_;
    if (sentences_.size() < kMaxFaults) {
      sentences_.push_back(std::move(sentence));
    }
  }

  std::vector<std::string> take() && {
    if (count_ > kMaxFaults) {
      sentences_.push_back(fmt::format("and {} more faults", count_ - kMaxFaults));
    }
    return std::move(sentences_);
  }

 private:
  std::vector<std::string> sentences_;
  std::size_t count_ = 0;
};

/// One chunk in one buffer of one rank.
using Cell = std::size_t;

/// Cells of a schedule in a row, so that arrays over cells need no maps.
class CellIndex {
 public:
  explicit CellIndex(const Schedule& schedule)
      : num_ranks_(schedule.num_ranks()),
        num_buffers_(schedule.num_buffers()),
        num_chunks_(schedule.num_chunks()) {}

  std::size_t size() const { return cell(num_ranks_, 0, 0); }
  Cell cell(Rank rank, std::int32_t buffer, std::int32_t chunk) const {
    const std::int64_t row = std::int64_t{rank} * num_buffers_ + buffer;
    return static_cast<Cell>(row * num_chunks_ + chunk);
  }
  Cell source(const Move& move, std::int32_t chunk) const {
    return cell(move.source, move.source_buffer, move.first_chunk + chunk);
  }
  Cell target(const Move& move, std::int32_t chunk) const {
    return cell(move.target, move.target_buffer, move.first_chunk + chunk);
  }

  /// What is wrong with the numbers of a move, or an empty text.
  std::string out_of_range(const Move& move) const {
    const auto is_rank = [this](Rank rank) { return rank >= 0 && rank < num_ranks_; };
    if (!is_rank(move.source) || !is_rank(move.target)) {
      return fmt::format("ranks are 0 to {}", num_ranks_ - 1);
    }
    if (move.first_chunk < 0 || move.num_chunks < 1 || move.first_chunk > num_chunks_ - move.num_chunks) {
      return fmt::format("chunks are 0 to {}", num_chunks_ - 1);
    }
    if (move.source_buffer >= num_buffers_ || move.target_buffer >= num_buffers_) {
      return fmt::format("buffers are 0 to {}", num_buffers_ - 1);
    }
    return {};
  }

 private:
  std::int32_t num_ranks_;
  std::int32_t num_buffers_;
  std::int32_t num_chunks_;
};

std::string text(const Move& move) {
  const auto place = [](Rank rank, int buffer) {
    return buffer == 0 ? fmt::format("rank {}", rank)
                       : fmt::format("rank {}'s scratch buffer {}", rank, buffer);
  };
  const std::string chunks =
      consecutive("chunk", move.first_chunk, move.first_chunk + move.num_chunks - 1, " to ");
  return fmt::format("the {} of {} from {} to {}", move.kind == MoveKind::copy ? "copy" : "reduction", chunks,
                     place(move.source, move.source_buffer), place(move.target, move.target_buffer));
}

/// Sets of ranks of one size, in one block of memory. The empty set stands for data that was never defined.
class RankSets {
 public:
  using Word = std::uint64_t;

  RankSets(std::size_t count, int num_ranks)
      : words_per_set_((static_cast<std::size_t>(num_ranks) + kBits - 1) / kBits),
        words_(count * words_per_set_) {}

  Word* set(std::size_t index) { return words_.data() + index * words_per_set_; }
  const Word* set(std::size_t index) const { return words_.data() + index * words_per_set_; }
  /// Adds an empty set at the end and returns its index.
  std::size_t grow() {
    words_.resize(words_.size() + words_per_set_);
    return words_.size() / words_per_set_ - 1;
  }
  void clear() { words_.clear(); }

  bool empty(const Word* a) const {
    return std::all_of(a, a + words_per_set_, [](Word word) { return word == 0; });
  }
  bool equal(const Word* a, const Word* b) const { return std::equal(a, a + words_per_set_, b); }
  bool disjoint(const Word* a, const Word* b) const {
    return std::equal(a, a + words_per_set_, b, [](Word x, Word y) { return (x & y) == 0; });
  }
  void assign(Word* target, const Word* source) const { std::copy_n(source, words_per_set_, target); }
  void unite(Word* target, const Word* source) const {
    std::transform(source, source + words_per_set_, target, target, [](Word x, Word y) { return x | y; });
  }
  static void insert(Word* a, Rank rank) { a[word_of(rank)] |= bit_of(rank); }
  static bool contains(const Word* a, Rank rank) { return (a[word_of(rank)] & bit_of(rank)) != 0; }

 private:
  static constexpr std::size_t kBits = 64;
  static std::size_t word_of(Rank rank) { return static_cast<std::size_t>(rank) / kBits; }
  static Word bit_of(Rank rank) { return Word{1} << (static_cast<std::size_t>(rank) % kBits); }

  std::size_t words_per_set_;
  std::vector<Word> words_;
};

/// What happens to a cell within the current round.
struct RoundMark {
  std::int64_t read_in = -1;     ///< Last round that reads the cell.
  std::int64_t written_in = -1;  ///< Last round that writes it …
  bool copied = false;           ///< … by a copy …
  std::size_t before = 0;        ///< … and where its value from before that round is kept.
};

/// Runs the rounds forward, on sets of contributions.
class Interpreter {
 public:
  Interpreter(const Schedule& schedule, Faults& faults)
      : schedule_(schedule),
        faults_(faults),
        index_(schedule),
        values_(index_.size(), schedule.num_ranks()),
        before_(0, schedule.num_ranks()),
        marks_(index_.size()) {
    for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
      for (std::int32_t chunk = 0; chunk < schedule.num_chunks(); ++chunk) {
        if (holds_at_start(schedule, rank, chunk)) {
          RankSets::insert(values_.set(index_.cell(rank, 0, chunk)), rank);
        }
      }
    }
  }

  /// Removes moves that name what does not exist, executes the others, and appends to `changed`, for each,
  /// whether its target's chunks are different afterwards.
  void run_round(std::int64_t round, std::vector<Move>& moves, std::vector<bool>& changed) {
    remove_impossible(round, moves);
    mark(round, moves);
    for (const Move& move : moves) {
      changed.push_back(execute(round, move));
    }
  }

  void check_promise() {
    for (Rank rank = 0; rank < schedule_.num_ranks(); ++rank) {
      for (std::int32_t chunk = 0; chunk < schedule_.num_chunks(); ++chunk) {
        if (promised_at_end(schedule_, rank, chunk)) {
          check_promise(rank, chunk);
        }
      }
    }
  }

 private:
  void remove_impossible(std::int64_t round, std::vector<Move>& moves) {
    const auto impossible = [&](const Move& move) {
      const std::string reason = index_.out_of_range(move);
      if (!reason.empty()) {
        faults_.add(fmt::format("round {}: {} is impossible: {}", round, text(move), reason));
      }
      return !reason.empty();
    };
    moves.erase(std::remove_if(moves.begin(), moves.end(), impossible), moves.end());
  }

  /// Notes the round's reads and writes, keeps overwritten values, and reports conflicts.
  void mark(std::int64_t round, const std::vector<Move>& moves) {
    before_.clear();
    for (const Move& move : moves) {
      for (std::int32_t chunk = 0; chunk < move.num_chunks; ++chunk) {
        marks_[index_.source(move, chunk)].read_in = round;
      }
    }
    for (const Move& move : moves) {
      for (std::int32_t chunk = 0; chunk < move.num_chunks; ++chunk) {
        const Cell cell = index_.target(move, chunk);
        RoundMark& seen = marks_[cell];
        const bool copies = move.kind == MoveKind::copy;
        if (copies && seen.read_in == round) {
          faults_.add(fmt::format("round {}: {} lands on chunk {}, which rank {} sends in the same round",
                                  round, text(move), move.first_chunk + chunk, move.target));
        }
        if (seen.written_in == round) {
          if (copies || seen.copied) {
            faults_.add(
                fmt::format("round {}: {} and another move write chunk {} of rank {} in the same round",
                            round, text(move), move.first_chunk + chunk, move.target));
          }
        } else {
          seen.written_in = round;
          seen.copied = copies;
          seen.before = before_.grow();
          before_.assign(before_.set(seen.before), values_.set(cell));
        }
      }
    }
  }

  const RankSets::Word* value_before(std::int64_t round, Cell cell) const {
    const RoundMark& seen = marks_[cell];
    return seen.written_in == round ? before_.set(seen.before) : values_.set(cell);
  }

  bool execute(std::int64_t round, const Move& move) {
    bool changed = false;
    for (std::int32_t chunk = 0; chunk < move.num_chunks; ++chunk) {
      const RankSets::Word* source = value_before(round, index_.source(move, chunk));
      RankSets::Word* target = values_.set(index_.target(move, chunk));
      if (values_.empty(source)) {
        faults_.add(fmt::format("round {}: {} reads chunk {}, which nothing has defined", round, text(move),
                                move.first_chunk + chunk));
      }
      if (move.kind == MoveKind::copy) {
        changed = changed || !values_.equal(target, source);
        values_.assign(target, source);
        continue;
      }
      changed = true;
      if (values_.empty(target)) {
        faults_.add(fmt::format("round {}: {} reduces into chunk {}, which nothing has defined", round,
                                text(move), move.first_chunk + chunk));
      }
      if (!values_.disjoint(target, source)) {
        faults_.add(fmt::format("round {}: {} counts the contribution of {} twice", round, text(move),
                                common_rank(target, source)));
      }
      values_.unite(target, source);
    }
    return changed;
  }

  std::string common_rank(const RankSets::Word* a, const RankSets::Word* b) const {
    Rank rank = 0;
    while (!RankSets::contains(a, rank) || !RankSets::contains(b, rank)) {
      ++rank;
    }
    return fmt::format("rank {}", rank);
  }

  /// Only missing contributions are left to find: the adding move found what is there too often.
  void check_promise(Rank rank, std::int32_t chunk) {
    const RankSets::Word* value = values_.set(index_.cell(rank, 0, chunk));
    std::vector<Rank> missing;
    for (Rank contributor = 0; contributor < schedule_.num_ranks(); ++contributor) {
      if (holds_at_start(schedule_, contributor, chunk) && !RankSets::contains(value, contributor)) {
        missing.push_back(contributor);
      }
    }
    if (!missing.empty()) {
      faults_.add(fmt::format("at the end chunk {} of rank {} lacks the contribution of {}", chunk, rank,
                              fmt::join(missing, ", ")));
    }
  }

  const Schedule& schedule_;
  Faults& faults_;
  CellIndex index_;
  RankSets values_;
  RankSets before_;  ///< Values from before the current round of the cells that it writes.
  std::vector<RoundMark> marks_;
};

/// Walks the rounds backward and finds the moves on which nothing of the promise depends: those that change
/// nothing, and those whose result nobody reads any more.
class Liveness {
 public:
  explicit Liveness(const Schedule& schedule) : index_(schedule), live_(index_.size(), false) {
    for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
      for (std::int32_t chunk = 0; chunk < schedule.num_chunks(); ++chunk) {
        live_[index_.cell(rank, 0, chunk)] = promised_at_end(schedule, rank, chunk);
      }
    }
  }

  /// Whether the moves of a round matter, given those of all later rounds.
  std::vector<bool> needed(const std::vector<Move>& moves, const std::vector<bool>& changed) {
    std::vector<bool> result(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
      result[i] = changed[i] && target_is_live(moves[i]);
    }
    // All moves of a round read before any of them writes: copies' targets are forgotten, then reads added.
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (result[i] && moves[i].kind == MoveKind::copy) {
        for (std::int32_t chunk = 0; chunk < moves[i].num_chunks; ++chunk) {
          live_[index_.target(moves[i], chunk)] = false;
        }
      }
    }
    for (std::size_t i = 0; i < moves.size(); ++i) {
      for (std::int32_t chunk = 0; result[i] && chunk < moves[i].num_chunks; ++chunk) {
        live_[index_.source(moves[i], chunk)] = true;
      }
    }
    return result;
  }

  bool exists(const Move& move) const { return index_.out_of_range(move).empty(); }

 private:
  bool target_is_live(const Move& move) const {
    for (std::int32_t chunk = 0; chunk < move.num_chunks; ++chunk) {
      if (live_[index_.target(move, chunk)]) {
        return true;
      }
    }
    return false;
  }

  CellIndex index_;
  std::vector<bool> live_;
};

/// Fills `redundant` and `first_redundant_tail_round`. `changed` tells for each move of all rounds, in order,
/// whether it changed its target.
void find_redundant_moves(const Schedule& schedule, const std::vector<bool>& changed, Proof& proof) {
  Liveness liveness(schedule);
  std::vector<Move> moves;
  std::size_t end = changed.size();
  bool tail = true;
  proof.first_redundant_tail_round = schedule.num_rounds();
  for (std::int64_t round = schedule.num_rounds() - 1; round >= 0; --round) {
    schedule.write_round(round, moves);
    moves.erase(
        std::remove_if(moves.begin(), moves.end(), [&](const Move& move) { return !liveness.exists(move); }),
        moves.end());
    const std::size_t begin = end - moves.size();
    const auto first = changed.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = changed.begin() + static_cast<std::ptrdiff_t>(end);
    const std::vector<bool> needed = liveness.needed(moves, std::vector<bool>(first, last));
    for (std::size_t i = moves.size(); i > 0; --i) {
      if (!needed[i - 1]) {
        proof.redundant.push_back({.round = round, .move = moves[i - 1]});
      }
    }
    tail = tail && std::ranges::find(needed, true) == needed.end();
    if (tail) {
      proof.first_redundant_tail_round = round;
    }
    end = begin;
  }
  std::reverse(proof.redundant.begin(), proof.redundant.end());
}

}  // namespace

Proof prove(const Schedule& schedule) {
  Proof proof;
  Faults faults;
  if (scattered(schedule.algorithm().collective) && schedule.num_chunks() % schedule.num_ranks() != 0) {
    proof.faults = {
        fmt::format("{} gives each of {} ranks its own chunks, but {} chunks cannot be dealt out evenly",
                    name(schedule.algorithm().collective), schedule.num_ranks(), schedule.num_chunks())};
    proof.first_redundant_tail_round = schedule.num_rounds();
    return proof;
  }
  std::vector<bool> changed;
  {
    Interpreter interpreter(schedule, faults);
    std::vector<Move> moves;
    for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
      schedule.write_round(round, moves);
      interpreter.run_round(round, moves, changed);
    }
    interpreter.check_promise();
  }
  proof.faults = std::move(faults).take();
  find_redundant_moves(schedule, changed, proof);
  return proof;
}

}  // namespace ringside
