#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/error.hpp"
#include "common/spellings.hpp"
#include "common/units.hpp"
#include "real/backend/rank_place.hpp"

/// What rank processes are asked to do and what they answer, one JSON object per line.
namespace ringside {

/// The first job of a rank process.
struct JoinJob {
  RankPlace place = {};          ///< Without what differs from rank to rank.
  bool tune_machine = true;      ///< As in LaunchOptions.
  bool share_out_cores = false;  ///< All ranks are on this machine: each keeps to its part of the cores.
};

/// A Task, by the name of its kind.
struct TaskJob {
  std::string kind;
  std::string request;
};

using Job = std::variant<JoinJob, TaskJob>;

enum class AnswerKind {
  alive,   ///< Still at it.
  done,    ///< The job is done.
  failed,  ///< This rank is of no more use.
};

struct Answer {
  AnswerKind kind = AnswerKind::done;
  std::string result = {};  ///< What came of a task.
  // When failed:
  std::string text = {};
  std::optional<ErrorKind> error = {};  ///< None: a bug, or an exception that nobody converted.
  std::optional<Rank> lost_peer = {};   ///< Whom this rank waited for in vain …
  bool late = false;                    ///< … because it did not come in time, not because it had gone.
  /// For so long this rank did not run while it worked: somebody had stopped it, or others had its core.
  std::optional<std::chrono::milliseconds> paused = {};
};

/// The answer of a rank that ends with the exception being handled. Call it inside a catch block.
Answer answer_of_current_exception();

std::string to_line(const Job& job);
std::string to_line(const Answer& answer);
/// Throw Error{bad_input} for text that no to_line() has made.
Job job_from_line(std::string_view line);
Answer answer_from_line(std::string_view line);

}  // namespace ringside
