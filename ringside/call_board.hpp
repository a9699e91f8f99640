#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/names.hpp"
#include "common/units.hpp"

namespace ringside {

/// What all ranks of a group must call alike. Without an algorithm it is a barrier.
struct GroupCall {
  static constexpr std::size_t kMaxName = 24;

  Collective collective = Collective::all_reduce;
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;
  std::int64_t num_elements = 0;           ///< Elements of all ranks together, where each has a part.
  std::array<char, kMaxName> algorithm{};  ///< Padded with zeros; cut where it is longer.

  void set_algorithm(std::string_view name);
  bool operator==(const GroupCall&) const = default;
};

/// Where the ranks of a group write down what they are about to call, in memory that they share, so that a
/// call which does not fit another rank's is refused before anything of it is sent. (Gloo would abort the
/// process, or the ranks would wait for each other until the deadline.)
///
/// It costs some stores and loads and never waits. Ranks that are further apart than kCalls calls or
/// kMessages messages are not compared.
class CallBoard {
 public:
  static constexpr std::int64_t kCalls = 256;
  static constexpr std::int64_t kMessages = 16;

  /// Processes that are forked later share it with this one. Throws Error{environment} without memory.
  explicit CallBoard(int num_ranks);
  ~CallBoard();
  CallBoard(const CallBoard&) = delete;
  CallBoard& operator=(const CallBoard&) = delete;

  /// `rank` has come to its call `number`, counted from 1. Throws Error{bad_input} with both calls when
  /// another rank has come to a different one.
  void enter(Rank rank, std::int64_t number, const GroupCall& call);

  /// One side of message `number` from `source` to `target`, counted from 1. Throws Error{bad_input} with
  /// both sizes when the other side has been here with another one.
  void enter_send(Rank source, Rank target, std::int64_t number, std::int64_t bytes);
  void enter_receive(Rank source, Rank target, std::int64_t number, std::int64_t bytes);

 private:
  using Word = std::uint64_t;
  /// A call as words, its number in front.
  static constexpr std::size_t kRowWords = 1 + sizeof(GroupCall) / sizeof(Word);

  std::span<Word> row(Rank rank, std::int64_t number);
  Word& first(std::int64_t number);
  Word& message(Rank source, Rank target, std::int64_t number, bool sent);

  int num_ranks_;
  std::span<Word> words_;
};

}  // namespace ringside
