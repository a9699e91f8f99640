#include "ringside/call_board.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <sys/mman.h>

#include "common/failures.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using Word = std::uint64_t;
using CallWords = std::array<Word, sizeof(GroupCall) / sizeof(Word)>;

static_assert(std::has_unique_object_representations_v<GroupCall> && sizeof(GroupCall) % sizeof(Word) == 0,
              "it travels as words");
static_assert(std::atomic_ref<Word>::is_always_lock_free, "other processes read it, too");

// Who came first to a call, in one word: the call's number and the rank.
constexpr int kRankBits = 20;
Word arrival(std::int64_t number, Rank rank) {
  return static_cast<Word>(number) << kRankBits | static_cast<Word>(rank);
}
std::int64_t number_in(Word arrival) { return static_cast<std::int64_t>(arrival >> kRankBits); }
Rank rank_in(Word arrival) { return static_cast<Rank>(arrival & ((Word{1} << kRankBits) - 1)); }

// One side of a message in one word: the low bits of its number, and its bytes.
constexpr int kByteBits = 44;
Word side_of_message(std::int64_t number, std::int64_t bytes) {
  return static_cast<Word>(number) << kByteBits | static_cast<Word>(bytes);
}
bool same_message(Word a, Word b) { return a >> kByteBits == b >> kByteBits; }
std::int64_t bytes_in(Word side) { return static_cast<std::int64_t>(side & ((Word{1} << kByteBits) - 1)); }

/// Only one rank writes a row, and says at last which call it holds; nobody takes a row for a call that it no
/// longer holds.
void write(std::span<Word> row, std::int64_t number, const GroupCall& call) {
  const auto words = std::bit_cast<CallWords>(call);
  std::atomic_ref<Word>(row[0]).store(0, std::memory_order_relaxed);
  for (std::size_t index = 1; index < row.size(); ++index) {
    std::atomic_ref<Word>(row[index]).store(words[index - 1], std::memory_order_release);
  }
  std::atomic_ref<Word>(row[0]).store(static_cast<Word>(number), std::memory_order_release);
}

std::optional<GroupCall> read(std::span<Word> row, std::int64_t number) {
  const auto holds_it = [&](std::memory_order order) {
    return std::atomic_ref<Word>(row[0]).load(order) == static_cast<Word>(number);
  };
  if (!holds_it(std::memory_order_acquire)) {
    return std::nullopt;
  }
  CallWords words;
  for (std::size_t index = 1; index < row.size(); ++index) {
    words[index - 1] = std::atomic_ref<Word>(row[index]).load(std::memory_order_acquire);
  }
  return holds_it(std::memory_order_relaxed) ? std::optional(std::bit_cast<GroupCall>(words)) : std::nullopt;
}

std::string describe(const GroupCall& call, int num_ranks) {
  const std::string algorithm(call.algorithm.begin(), std::ranges::find(call.algorithm, '\0'));
  if (algorithm.empty()) {
    return "barrier";
  }
  const bool parts = row_of(call.collective).starts == Held::own_part;
  return fmt::format("{} of {} {}{} ({}{}{})", name(call.collective),
                     call.num_elements / (parts ? num_ranks : 1), name(call.dtype),
                     parts ? " from each rank" : "",
                     reduces(call.collective) ? fmt::format("{}, ", name(call.op)) : "",
                     has_root(call.collective) ? fmt::format("root {}, ", call.root) : "", algorithm);
}

[[noreturn]] void throw_sizes(Rank source, std::int64_t sent, Rank target, std::int64_t received) {
  throw bad_input("rank {} sends {} B to rank {}, which wants to receive {} B", source, sent, target,
                  received);
}

/// Writes one side down and returns the other one if it is of the same message. One order of all stores and
/// loads, so that at least the later of the two sides sees the earlier.
std::optional<Word> exchange(Word& own, Word& other, Word side) {
  std::atomic_ref<Word>(own).store(side, std::memory_order_seq_cst);
  const Word seen = std::atomic_ref<Word>(other).load(std::memory_order_seq_cst);
  return same_message(seen, side) ? std::optional(seen) : std::nullopt;
}

}  // namespace

void GroupCall::set_algorithm(std::string_view name) {
  algorithm.fill('\0');
  std::copy_n(name.begin(), std::min(name.size(), algorithm.size()), algorithm.begin());
}

CallBoard::CallBoard(int num_ranks) : num_ranks_(num_ranks) {
  const auto ranks = static_cast<std::size_t>(num_ranks);
  const std::size_t words = static_cast<std::size_t>(kCalls) * (1 + ranks * kRowWords) +
                            2 * static_cast<std::size_t>(kMessages) * ranks * ranks;
  void* memory = ::mmap(nullptr, words * sizeof(Word), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw lacking("{} ranks cannot share {} B of memory: {}", num_ranks, words * sizeof(Word), errno_text());
  }
  words_ = std::span(static_cast<Word*>(memory), words);
}

CallBoard::~CallBoard() { ::munmap(words_.data(), words_.size_bytes()); }

// In memory: who came first to the last calls; each rank's last calls; each pair's last messages.

CallBoard::Word& CallBoard::first(std::int64_t number) {
  return words_[static_cast<std::size_t>(number % kCalls)];
}

std::span<CallBoard::Word> CallBoard::row(Rank rank, std::int64_t number) {
  const auto index = static_cast<std::size_t>(rank * kCalls + number % kCalls);
  return words_.subspan(static_cast<std::size_t>(kCalls) + index * kRowWords, kRowWords);
}

CallBoard::Word& CallBoard::message(Rank source, Rank target, std::int64_t number, bool sent) {
  const auto pair = static_cast<std::size_t>(source) * static_cast<std::size_t>(num_ranks_) +
                    static_cast<std::size_t>(target);
  const auto rows = static_cast<std::size_t>(kCalls * num_ranks_);
  return words_[static_cast<std::size_t>(kCalls) + rows * kRowWords +
                (2 * pair + (sent ? 0 : 1)) * static_cast<std::size_t>(kMessages) +
                static_cast<std::size_t>(number % kMessages)];
}

void CallBoard::enter(Rank rank, std::int64_t number, const GroupCall& call) {
  write(row(rank, number), number, call);
  const std::atomic_ref<Word> first_arrival(first(number));
  Word seen = first_arrival.load(std::memory_order_acquire);
  while (number_in(seen) < number) {
    if (first_arrival.compare_exchange_weak(seen, arrival(number, rank), std::memory_order_acq_rel)) {
      return;
    }
  }
  if (number_in(seen) > number) {
    return;  // The others are far ahead.
  }
  const Rank other = rank_in(seen);
  const std::optional<GroupCall> others = read(row(other, number), number);
  if (others && *others != call) {
    throw bad_input(
        "rank {} called {} and rank {} called {} at the same point; all ranks make the same "
        "collective calls in the same order",
        rank, describe(call, num_ranks_), other, describe(*others, num_ranks_));
  }
}

void CallBoard::enter_send(Rank source, Rank target, std::int64_t number, std::int64_t bytes) {
  const auto received = exchange(message(source, target, number, true),
                                 message(source, target, number, false), side_of_message(number, bytes));
  if (received && bytes_in(*received) != bytes) {
    throw_sizes(source, bytes, target, bytes_in(*received));
  }
}

void CallBoard::enter_receive(Rank source, Rank target, std::int64_t number, std::int64_t bytes) {
  const auto sent = exchange(message(source, target, number, false), message(source, target, number, true),
                             side_of_message(number, bytes));
  if (sent && bytes_in(*sent) != bytes) {
    throw_sizes(source, bytes_in(*sent), target, bytes);
  }
}

}  // namespace ringside
