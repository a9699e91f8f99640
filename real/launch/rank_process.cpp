#include "real/launch/rank_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/execute/coordination.hpp"
#include "real/launch/rank_command.hpp"
#include "real/launch/rank_messages.hpp"
#include "real/launch/rank_tuning.hpp"
#include "real/system/core_wait.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kHeartbeat{500};
/// Longer than a busy machine lets a thread wait for its core.
constexpr milliseconds kShortPause{200};

/// How long this process did not run. One thread looks at the clock each heartbeat; any thread may ask.
class OwnPauses {
 public:
  void look() {
    const std::lock_guard lock(mutex_);
    total_ += since_last_look();
    last_look_ = Clock::now();
  }
  void begin_anew() {
    const std::lock_guard lock(mutex_);
    total_ = milliseconds(0);
    last_look_ = Clock::now();
    core_wait_ = CoreWait(::getpid());
  }
  /// What it waited for a core until now has kept nobody waiting.
  void get_on() {
    const std::lock_guard lock(mutex_);
    core_wait_ = CoreWait(::getpid());
  }
  /// Who asks may be the first thread that goes on after a pause.
  milliseconds total() {
    const std::lock_guard lock(mutex_);
    core_wait_.look();
    const milliseconds waited = core_wait_.longest();
    return std::max(total_ + since_last_look(), waited > kShortPause ? waited : milliseconds(0));
  }

 private:
  using Clock = std::chrono::steady_clock;

  milliseconds since_last_look() const {
    const auto gap = std::chrono::floor<milliseconds>(Clock::now() - last_look_);
    return gap > kHeartbeat + kShortPause ? gap - kHeartbeat : milliseconds(0);
  }

  mutable std::mutex mutex_;
  Clock::time_point last_look_ = Clock::now();
  milliseconds total_{0};
  CoreWait core_wait_ = CoreWait(::getpid());
};

/// The rank's end of the control socket: its standard input and output. Jobs come in, answers go out, and the
/// end of input means that the parent is gone. A thread of its own reads, so that a parent that dies ends
/// this process even in the middle of a call, and says "alive" while the rank gets on.
class ControlChannel {
 public:
  explicit ControlChannel(const Progress& progress) : progress_(progress), reader_([this] { read_jobs(); }) {}
  ~ControlChannel() { reader_.join(); }
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  /// The next job; nothing at the end of input.
  std::optional<std::string> next_job() {
    std::unique_lock lock(mutex_);
    idle_ = true;
    changed_.wait(lock, [this] { return !lines_.empty() || ended_; });
    if (lines_.empty()) {
      return std::nullopt;
    }
    idle_ = false;
    pauses_.begin_anew();
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }

  /// Since the last job began.
  milliseconds paused() { return pauses_.total(); }

  void send(const Answer& answer) {
    const std::string line = to_line(answer);
    const std::lock_guard lock(output_mutex_);
    std::size_t sent = 0;
    while (sent < line.size()) {
      const ssize_t count = ::write(STDOUT_FILENO, line.data() + sent, line.size() - sent);
      if (count < 0 && errno != EINTR) {
        return;  // Nobody is left to hear it; the reader ends this process.
      }
      sent += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
  }

 private:
  void read_jobs() {
    LineBuffer buffer;
    std::uint64_t seen = progress_.steps();
    while (true) {
      pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&input, 1, static_cast<int>(kHeartbeat.count()));
      pauses_.look();
      if (ready == 0) {
        if (progress_.steps() != seen) {
          seen = progress_.steps();
          pauses_.get_on();
          send({.kind = AnswerKind::alive});
        }
        continue;
      }
      char piece[4096];
      const ssize_t count = ::read(STDIN_FILENO, piece, sizeof(piece));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count <= 0) {
        end();
        return;
      }
      buffer.append(piece, static_cast<std::size_t>(count));
      while (const std::optional<std::string> line = buffer.next()) {
        const std::lock_guard lock(mutex_);
        lines_.push_back(*line);
        changed_.notify_one();
      }
    }
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (!idle_ || !lines_.empty()) {
      ::_exit(EXIT_FAILURE);  // The main thread is, or will be, deep in work for a parent that is gone.
    }
    changed_.notify_one();
  }

  const Progress& progress_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  bool idle_ = false;
  bool ended_ = false;
  OwnPauses pauses_;
  std::mutex output_mutex_;
  std::thread reader_;  // Last, so that it starts when all else is there.
};

/// This rank, from the first job on.
class RankWorker {
 public:
  RankWorker(const RankArguments& arguments, std::span<const TaskKind> kinds)
      : arguments_(arguments), kinds_(kinds) {}

  const Progress& progress() const { return progress_; }

  Answer work(const Job& job) {
    if (const auto* join = std::get_if<JoinJob>(&job)) {
      if (join->tune_machine && join->share_out_cores) {
        tuning_.bind(arguments_.rank, arguments_.num_ranks);
      }
      RankPlace place = join->place;
      place.rank = place.local_rank = arguments_.rank;
      place.progress = &progress_;
      backend_ = join_ranks(place);
      coordination_.emplace(*backend_.transport);
      backend_.sockets = sockets_of_ranks(*coordination_);
      if (join->tune_machine) {
        tuning_.tune(*coordination_, backend_);
      }
      return {};
    }
    RINGSIDE_CHECK(coordination_.has_value(), "a rank joins before it works");
    const auto& task = std::get<TaskJob>(job);
    const auto kind = std::ranges::find(kinds_, task.kind, &TaskKind::name);
    RINGSIDE_CHECK(kind != kinds_.end(), "parent and rank are one program");
    const RankTuning::Work work(tuning_);
    std::string result = kind->run(task.request, backend_, *coordination_);
    // All ranks know the result; it is told once.
    return {.result = arguments_.rank == 0 ? std::move(result) : ""};
  }

 private:
  RankArguments arguments_;
  std::span<const TaskKind> kinds_;
  Progress progress_;
  RankTuning tuning_;
  RankBackend backend_;
  std::optional<Coordination> coordination_;
};

}  // namespace

int run_rank_process(std::span<const std::string> arguments, std::span<const TaskKind> kinds) {
  const RankArguments arguments_of_rank = parse_rank_arguments(arguments);
  // A wrapper between the parent and this process may die without a word to it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A lost peer is an error to report, not a reason to die.
  ::signal(SIGPIPE, SIG_IGN);
  RankWorker worker(arguments_of_rank, kinds);
  ControlChannel channel(worker.progress());
  int status = EXIT_SUCCESS;
  while (const std::optional<std::string> line = channel.next_job()) {
    try {
      channel.send(worker.work(job_from_line(*line)));
    } catch (...) {
      // The parent hears why, ends this process, and sends no more jobs.
      Answer answer = answer_of_current_exception();
      if (const milliseconds paused = channel.paused(); paused > milliseconds(0)) {
        answer.paused = paused;
      }
      channel.send(answer);
      status = EXIT_FAILURE;
    }
  }
  return status;
}

}  // namespace ringside
