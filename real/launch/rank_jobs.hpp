#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/error.hpp"
#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/launch/rank_job_names.hpp"
#include "real/measure/measure_options.hpp"
#include "real/measure/recording.hpp"
#include "real/probe/probe.hpp"
#include "results/probe_sample.hpp"

/// What ranks are asked to do and what they answer; between processes, one JSON object per line.
namespace ringside {

/// The first job of a rank process.
struct JoinJob {
  int num_ranks = 1;
  Backend backend = Backend::gloo;
  GpuOptions gpu = {};
  std::chrono::milliseconds timeout{0};
  std::optional<std::string> interface = {};
  std::string rendezvous = {};
  std::string group = {};
  bool tune_machine = true;      ///< As in LaunchOptions.
  bool share_out_cores = false;  ///< All ranks are on this machine: each keeps to its part of the cores.
};

struct PointJob {
  PointKey key;
  MeasureOptions options = {};  ///< All but `launch` and `earlier`.
};

struct ProbeJob {
  ProbeKey key;
  Seconds budget = {};
};

/// A point whose steps are written down.
struct RecordJob {
  PointKey key;
  MeasureOptions options = {};  ///< All but `launch` and `earlier`.
};

using Job = std::variant<JoinJob, PointJob, ProbeJob, RecordJob>;

struct Answer {
  AnswerKind kind = AnswerKind::done;
  std::optional<Measurement> measurement = {};  ///< What came of a PointJob.
  std::optional<ProbeSample> probed = {};       ///< What came of a ProbeJob.
  std::optional<Recording> recording = {};      ///< What came of a RecordJob.
  // When failed:
  std::string text = {};
  std::optional<ErrorKind> error = {};  ///< None: a bug, or an exception that nobody converted.
  std::optional<Rank> lost_peer = {};   ///< Whom this rank waited for in vain …
  bool late = false;                    ///< … because it did not come in time, not because it had gone.
  /// For so long this rank did not run while it worked: somebody had stopped it, or others had its core.
  std::optional<std::chrono::milliseconds> paused = {};
};

/// Does the work of a job that is no JoinJob; called by all ranks at once. Throws what the work throws.
Answer run_job(const Job& job, const RankBackend& backend, Coordination& coordination);

/// The answer of a rank that ends with the exception being handled. Call it inside a catch block.
Answer answer_of_current_exception();

std::string to_line(const Job& job);
std::string to_line(const Answer& answer);
/// Throw Error{bad_input} for text that no to_line() has made.
Job job_from_line(std::string_view line);
Answer answer_from_line(std::string_view line);

/// "all_reduce ring, 4 ranks, 1 MiB": what a job is about, for messages.
std::string description(const Job& job);
std::string description(const PointKey& key);

}  // namespace ringside
