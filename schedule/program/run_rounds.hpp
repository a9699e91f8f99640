#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/program/execution.hpp"
#include "schedule/program/program.hpp"

/// What runs, round by round, for people who want to see it: the moves of an execution, and what the programs
/// of its ranks say about when their receives are posted.
namespace ringside {

struct RunMove {
  Move move;                 ///< In whole chunks, as the schedule has it.
  std::int32_t segment = 0;  ///< Which of its chunk's segments it carries; 0 where chunks travel whole.
  /// The first round that the target still has under way when it posts the receive: the move's own round, or
  /// an earlier one where the receive is posted ahead.
  std::int64_t posted_in = 0;
};

class RunRounds {
 public:
  /// Compiles the program of every rank; takes memory in proportion to ranks times rounds.
  RunRounds(const Schedule& schedule, const Vector& vector, const ExecutionPolicy& policy);

  const Execution& execution() const { return execution_; }
  std::int64_t num_rounds() const { return execution_.num_rounds(); }
  /// The moves of a round (0 … num_rounds−1); those of one segment stand together.
  std::vector<RunMove> round(std::int64_t round) const;

 private:
  /// Target, source, round and first chunk (of the execution) of a message.
  using Message = std::tuple<Rank, Rank, std::int64_t, std::int32_t>;

  void read(const Program& program);

  Execution execution_;
  std::map<Message, std::int64_t> posted_in_;
};

/// A line of a round: what moves, as describe_round() has it, and in which rounds (from 1) its receives are
/// posted; empty where nothing is received.
struct RunLine {
  std::string posted_in;
  std::string moves;
};

std::vector<RunLine> describe_round(const RunRounds& run, std::int64_t round);

}  // namespace ringside
