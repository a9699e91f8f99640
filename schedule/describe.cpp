#include "schedule/describe.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/mapped.hpp"
#include "common/text.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

std::string chunks_text(const Schedule& schedule, const Move& move) {
  if (move.num_chunks == schedule.num_chunks()) {
    return "everything";
  }
  return consecutive("chunk", move.first_chunk, move.first_chunk + move.num_chunks - 1);
}

/// ` from scratch 1 into scratch 2`; nothing for the message itself.
std::string buffers_text(const Move& move) {
  const auto scratch = [](const char* preposition, int buffer) {
    return buffer == 0 ? std::string() : fmt::format(" {} scratch {}", preposition, buffer);
  };
  return scratch("from", move.source_buffer) + scratch("into", move.target_buffer);
}

std::string_view verb(const Move& move) { return move.kind == MoveKind::copy ? "copy" : "reduce"; }

/// `i`, `i+2`, `i−1`, `2i+6`: factor·i + offset modulo n, where i−1 reads better than i+(n−1).
std::string linear(std::int64_t factor, std::int64_t offset, std::int64_t n) {
  const std::string variable = factor == 1 ? "i" : fmt::format("{}i", factor);
  if (offset == 0) {
    return variable;
  }
  const bool downward = factor == 1 && 2 * offset > n;
  return downward ? fmt::format("{}−{}", variable, n - offset) : fmt::format("{}+{}", variable, offset);
}

std::int64_t modulo(std::int64_t value, std::int64_t n) { return ((value % n) + n) % n; }

/// A round in which every rank does the same relative to itself: rank i sends chunk offset + stride·i (mod k)
/// to rank i + shift (mod n).
struct Pattern {
  std::int64_t shift = 0;
  std::int64_t chunk_offset = 0;
  std::int64_t chunk_stride = 0;

  bool fits(const Schedule& schedule, const Move& first, const Move& move) const {
    return modulo(move.target - move.source, schedule.num_ranks()) == shift && move.kind == first.kind &&
           move.num_chunks == first.num_chunks && move.source_buffer == first.source_buffer &&
           move.target_buffer == first.target_buffer &&
           modulo(chunk_offset + chunk_stride * move.source, schedule.num_chunks()) == move.first_chunk;
  }
};

/// The moves' pattern, if there is one and chunks follow from i. `moves` is in order of sources.
std::optional<Pattern> common_pattern(const Schedule& schedule, const std::vector<Move>& moves) {
  const int n = schedule.num_ranks();
  if (n < 2 || moves.size() != static_cast<std::size_t>(n)) {
    return std::nullopt;
  }
  const Pattern pattern = {
      .shift = modulo(moves[0].target - moves[0].source, n),
      .chunk_offset = moves[0].first_chunk,
      .chunk_stride = modulo(moves[1].first_chunk - moves[0].first_chunk, schedule.num_chunks())};
  for (Rank rank = 0; rank < n; ++rank) {
    const Move& move = moves[static_cast<std::size_t>(rank)];
    if (move.source != rank || !pattern.fits(schedule, moves[0], move)) {
      return std::nullopt;
    }
  }
  return pattern;
}

std::string pattern_text(const Schedule& schedule, const Pattern& pattern, const Move& first,
                         std::string_view part) {
  const std::int64_t n = schedule.num_ranks();
  const std::int64_t k = schedule.num_chunks();
  std::string chunks = chunks_text(schedule, first);
  std::string note;
  if (pattern.chunk_stride != 0) {
    const std::string start = linear(pattern.chunk_stride, pattern.chunk_offset, k);
    chunks = first.num_chunks == 1 ? fmt::format("chunk {}", start)
                                   : fmt::format("{} chunks from {}", first.num_chunks, start);
    note = fmt::format(" (mod {})", k);
  }
  const std::string ranks =
      pattern.shift == 0 ? std::string("every i") : fmt::format("every i → {}", linear(1, pattern.shift, n));
  return fmt::format("{}: {} {}{}{}{}", ranks, verb(first), part, chunks, note, buffers_text(first));
}

/// `every i → every other j: reduce chunk j`: a round in which every rank sends to every other, where all
/// moves are of one kind and their chunk is the same, or that of the source's or the target's number.
std::optional<std::string> exchange_text(const Schedule& schedule, const std::vector<Move>& moves,
                                         std::string_view part) {
  const auto n = static_cast<std::size_t>(schedule.num_ranks());
  if (n < 3 || moves.size() != n * (n - 1)) {
    return std::nullopt;
  }
  const Move& first = moves.front();
  const auto all = [&](auto&& holds) { return std::ranges::all_of(moves, holds); };
  std::set<std::pair<Rank, Rank>> pairs;
  const bool alike = all([&](const Move& move) {
    return !move.local() && pairs.emplace(move.source, move.target).second && move.kind == first.kind &&
           move.num_chunks == first.num_chunks && move.source_buffer == first.source_buffer &&
           move.target_buffer == first.target_buffer;
  });
  std::string chunks;
  if (all([&](const Move& move) { return move.first_chunk == first.first_chunk; })) {
    chunks = chunks_text(schedule, first);
  } else if (first.num_chunks == 1 && all([](const Move& move) { return move.first_chunk == move.target; })) {
    chunks = "chunk j";
  } else if (first.num_chunks == 1 && all([](const Move& move) { return move.first_chunk == move.source; })) {
    chunks = "chunk i";
  }
  if (!alike || chunks.empty()) {
    return std::nullopt;
  }
  return fmt::format("every i → every other j: {} {}{}{}", verb(first), part, chunks, buffers_text(first));
}

std::string move_text(const Schedule& schedule, const Move& move, std::string_view part) {
  const std::string ranks =
      move.local() ? fmt::format("{}", move.source) : fmt::format("{} → {}", move.source, move.target);
  return fmt::format("{}: {} {}{}{}", ranks, verb(move), part, chunks_text(schedule, move),
                     buffers_text(move));
}

/// Multiples of S, to the accuracy of sums of equal fractions.
bool equal(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

std::string promise_text(Collective collective) {
  if (collective == Collective::all_reduce) {
    return "every rank already holds every contribution";
  }
  return fmt::format("what {} promises is already there", name(collective));
}

void add_redundancy(const Schedule& schedule, const Proof& proof, std::vector<std::string>& sentences) {
  const std::int64_t first = proof.first_redundant_tail_round;
  const std::int64_t num_tail_rounds = schedule.num_rounds() - first;
  if (num_tail_rounds > 0) {
    const std::string subject = num_tail_rounds == 1
                                    ? "The last round changes"
                                    : fmt::format("The last {} rounds change", num_tail_rounds);
    sentences.push_back(fmt::format("{} nothing: {} after round {}.", subject,
                                    promise_text(schedule.algorithm().collective), first));
  }
  const auto others = std::ranges::count_if(
      proof.redundant, [first](const RedundantMove& redundant) { return redundant.round < first; });
  if (others > 0) {
    sentences.push_back(fmt::format("{} of the moves in {} rounds change nothing that matters at the end.",
                                    others, num_tail_rounds > 0 ? "the other" : "its"));
  }
}

void add_comparison_with_naive(const Schedule& schedule, const ScheduleTotals& totals,
                               std::vector<std::string>& sentences) {
  const Collective collective = schedule.algorithm().collective;
  const Algorithm* naive = find_algorithm(collective, "naive");
  if (naive == nullptr || schedule.algorithm().name == naive->name || schedule.num_rounds() == 0) {
    return;
  }
  const ScheduleTotals baseline =
      total(Schedule(*naive, {.num_ranks = schedule.num_ranks(), .root = schedule.request().root}));
  const double bytes = totals.critical_path.bytes;
  if (equal(bytes, baseline.critical_path.bytes)) {
    sentences.push_back(fmt::format("Its critical path carries {:.4g}·S, as many bytes as naive's.", bytes));
  } else if (bytes > baseline.critical_path.bytes) {
    sentences.push_back(fmt::format("Its critical path carries {:.4g}·S, more bytes than naive's {:.4g}·S.",
                                    bytes, baseline.critical_path.bytes));
  }
  if (equal(totals.bytes_sent, baseline.bytes_sent)) {
    sentences.push_back(
        fmt::format("All ranks together send {:.4g}·S, as many bytes as with naive: on one medium that all "
                    "share it gains little.",
                    totals.bytes_sent));
  } else if (totals.bytes_sent > baseline.bytes_sent) {
    sentences.push_back(
        fmt::format("All ranks together send {:.4g}·S, more bytes than naive's {:.4g}·S: this hurts on a "
                    "medium that all share.",
                    totals.bytes_sent, baseline.bytes_sent));
  }
}

/// Patarasuk and Yuan (2009): in any all_reduce some rank sends at least 2(n−1)/n·S.
void add_lower_bound(const Schedule& schedule, const ScheduleTotals& totals,
                     std::vector<std::string>& sentences) {
  const double n = schedule.num_ranks();
  if (schedule.algorithm().collective == Collective::all_reduce && n > 1 &&
      equal(totals.bytes_sent_by_busiest, 2 * (n - 1) / n)) {
    sentences.push_back(fmt::format("No rank sends more than {:.4g}·S, the least that any all_reduce can do.",
                                    totals.bytes_sent_by_busiest));
  }
}

}  // namespace

std::string describe(const Schedule& schedule, const Move& move) { return move_text(schedule, move, {}); }

std::vector<std::string> describe_round(const Schedule& schedule, std::int64_t round) {
  std::vector<Move> moves;
  schedule.write_round(round, moves);
  return describe_moves(schedule, std::move(moves));
}

std::vector<std::string> describe_moves(const Schedule& schedule, std::vector<Move> moves,
                                        std::string_view part) {
  std::ranges::stable_sort(moves, {}, &Move::source);
  if (const std::optional<Pattern> pattern = common_pattern(schedule, moves)) {
    return {pattern_text(schedule, *pattern, moves.front(), part)};
  }
  if (const std::optional<std::string> exchange = exchange_text(schedule, moves, part)) {
    return {*exchange};
  }
  return mapped(moves, [&](const Move& move) { return move_text(schedule, move, part); });
}

ScheduleTotals total(const Schedule& schedule) {
  const auto num_ranks = static_cast<std::size_t>(schedule.num_ranks());
  std::vector<std::int64_t> sent(num_ranks);
  std::vector<std::int64_t> reduced(num_ranks);
  ScheduleTotals totals = {.num_rounds = schedule.num_rounds(), .critical_path = schedule.critical_path()};
  std::vector<Move> moves;
  std::int64_t sent_by_all = 0;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    for (const Move& move : moves) {
      if (!move.local()) {
        ++totals.num_messages;
        sent_by_all += move.num_chunks;
        sent[static_cast<std::size_t>(move.source)] += move.num_chunks;
      }
      if (move.kind == MoveKind::reduce) {
        reduced[static_cast<std::size_t>(move.target)] += move.num_chunks;
      }
    }
  }
  const double messages = messages_in_buffer(schedule.algorithm().collective, schedule.num_ranks());
  totals.critical_path.bytes *= messages;
  totals.critical_path.reduced_bytes *= messages;
  const auto parts_of_message = [&](std::int64_t chunks) {
    return static_cast<double>(chunks) * messages / schedule.num_chunks();
  };
  totals.bytes_sent = parts_of_message(sent_by_all);
  totals.bytes_sent_by_busiest = parts_of_message(*std::ranges::max_element(sent));
  totals.bytes_reduced_by_busiest = parts_of_message(*std::ranges::max_element(reduced));
  return totals;
}

std::vector<std::string> findings(const Schedule& schedule, const Proof& proof) {
  std::vector<std::string> sentences =
      mapped(proof.faults, [](const std::string& fault) { return fmt::format("It is wrong: {}.", fault); });
  if (proof.holds()) {
    add_redundancy(schedule, proof, sentences);
  }
  const ScheduleTotals totals = total(schedule);
  add_comparison_with_naive(schedule, totals, sentences);
  add_lower_bound(schedule, totals, sentences);
  return sentences;
}

}  // namespace ringside
