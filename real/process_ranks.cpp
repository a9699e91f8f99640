// Ranks as processes: starting them, and telling which of them is to blame when something goes wrong.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <vector>

#include <fmt/format.h>
#include <poll.h>

#include "real/rank_child.hpp"
#include "real/rank_command.hpp"
#include "real/ranks.hpp"
#include "real/transport.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A rank that waits in vain says so when the timeout is over. Only if all of them hang does nobody; then the parent
/// decides, this much later.
constexpr milliseconds kPatience{2000};
/// From the first sign of trouble until the others have been heard: the first to complain is rarely the culprit.
constexpr milliseconds kGrace{100};
/// Ranks without work end by themselves in this time, or are killed.
constexpr milliseconds kFarewell{1000};

/// A rank and what has been heard of it in the current job.
struct Member {
  Member(Rank rank, const std::vector<std::string>& command) : child(rank, command) {}

  RankChild child;
  Clock::time_point last_heard{};
  std::optional<Answer> answer;  ///< done or failed
  bool gone = false;             ///< Its end of the control socket is closed.
};

class ProcessRanks final : public Ranks {
 public:
  ProcessRanks(int num_ranks, const LaunchOptions& options, InterruptGuard& interrupts)
      : timeout_(options.timeout), interrupts_(interrupts) {
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      members_.emplace_back(rank, rank_command(options, rank, num_ranks));
    }
    run(JoinJob{.num_ranks = num_ranks,
                .timeout = options.timeout,
                .interface = options.interface,
                .rendezvous = options.rendezvous.value_or("file://" + directory_.path().string()),
                .group = directory_.path().filename().string()});
  }

  ~ProcessRanks() override {
    // All at once, so that none sees another one go.
    if (healthy_) {
      say_goodbye();
    }
    for (Member& member : members_) {
      member.child.kill();
    }
  }

  int num_ranks() const override { return static_cast<int>(members_.size()); }

  Answer run(const Job& job) override {
    healthy_ = false;
    const std::string line = to_line(job);
    for (Member& member : members_) {
      member.last_heard = Clock::now();
      member.answer.reset();
      member.gone = !member.child.send(line);
    }
    while (
        std::any_of(members_.begin(), members_.end(), [](const Member& member) { return !done(member); })) {
      if (trouble()) {
        listen_to_the_others();
        blame(job);
      }
      listen(milliseconds_to_deadline());
    }
    healthy_ = true;
    return *std::exchange(members_.front().answer, std::nullopt);
  }

 private:
  static bool done(const Member& member) {
    return member.answer.has_value() && member.answer->kind == AnswerKind::done;
  }
  static bool failed(const Member& member) {
    return member.answer.has_value() && member.answer->kind == AnswerKind::failed;
  }
  bool overdue(const Member& member) const {
    return !member.answer && Clock::now() >= member.last_heard + timeout_ + kPatience;
  }
  bool trouble() const {
    return std::any_of(members_.begin(), members_.end(), [this](const Member& member) {
      return member.gone || failed(member) || overdue(member);
    });
  }

  milliseconds milliseconds_to_deadline() const {
    Clock::time_point deadline = Clock::now() + timeout_ + kPatience;
    for (const Member& member : members_) {
      if (!member.answer) {
        deadline = std::min(deadline, member.last_heard + timeout_ + kPatience);
      }
    }
    return std::max(std::chrono::ceil<milliseconds>(deadline - Clock::now()), milliseconds(0));
  }

  void listen_to_the_others() {
    const Clock::time_point deadline = Clock::now() + kGrace;
    while (Clock::now() < deadline) {
      listen(std::chrono::ceil<milliseconds>(deadline - Clock::now()));
    }
  }

  /// Waits until a rank says something, a signal comes, or the time is over; takes in all there is.
  void listen(milliseconds time) {
    std::vector<pollfd> descriptors = {{.fd = interrupts_.descriptor(), .events = POLLIN, .revents = 0}};
    for (const Member& member : members_) {
      // poll() passes over negative numbers.
      descriptors.push_back(
          {.fd = member.gone ? -1 : member.child.control(), .events = POLLIN, .revents = 0});
      descriptors.push_back({.fd = member.child.error_output(), .events = POLLIN, .revents = 0});
    }
    ::poll(descriptors.data(), descriptors.size(), static_cast<int>(time.count()));
    if (const std::optional<int> signal = interrupts_.take()) {
      throw Interrupted{*signal};
    }
    for (Member& member : members_) {
      hear(member);
    }
  }

  void hear(Member& member) {
    member.child.read_error_output();
    member.gone = member.gone || !member.child.read_control();
    while (const std::optional<std::string> line = member.child.next_line()) {
      member.last_heard = Clock::now();
      Answer answer = answer_from_line(*line);
      if (answer.kind != AnswerKind::alive) {
        member.answer = std::move(answer);
      }
    }
  }

  /// Of all that has gone wrong, reports what came first in the chain of causes: a rank that ended, then a failure of
  /// a rank's own, then a rank that others wait for in vain and that says nothing, then the first complaint.
  [[noreturn]] void blame(const Job& job) {
    for (Member& member : members_) {
      if (!failed(member)) {
        if (const std::optional<std::string> end = member.child.end()) {
          throw_lost(fmt::format("rank {} {}", member.child.rank(), *end), job, member);
        }
      }
    }
    for (const Member& member : members_) {
      if (failed(member) && member.answer->error != ErrorKind::peer_lost) {
        throw_failure(job, member);
      }
    }
    if (const Member* silent = find_silent()) {
      throw_lost(fmt::format("rank {} did not answer within {}", silent->child.rank(), text_of(timeout_)),
                 job, *silent, silent->child.stopped() ? " (it is stopped)" : "");
    }
    const auto complaint = std::find_if(members_.begin(), members_.end(), failed);
    if (complaint != members_.end()) {
      throw_lost(complaint->answer->text, job, *complaint);
    }
    const auto gone = std::find_if(members_.begin(), members_.end(), [](const Member& m) { return m.gone; });
    RINGSIDE_CHECK(gone != members_.end(), "nobody is to blame");
    throw_lost(fmt::format("rank {} closed its control socket", gone->child.rank()), job, *gone);
  }

  /// The rank that hangs, if one does: one that is stopped, else one that a complaint names, else any that is overdue.
  /// Ranks that work or wait for somebody else are silent too, for a while.
  const Member* find_silent() const {
    const auto silent = [](const Member& member) { return !member.answer; };
    for (const Member& member : members_) {
      if (silent(member) && member.child.stopped()) {
        return &member;
      }
    }
    for (const Member& complaining : members_) {
      if (failed(complaining) && complaining.answer->lost_peer) {
        const Member& named = members_[static_cast<std::size_t>(*complaining.answer->lost_peer)];
        if (silent(named)) {
          return &named;
        }
      }
    }
    const auto late = std::find_if(members_.begin(), members_.end(),
                                   [this](const Member& member) { return overdue(member); });
    return late == members_.end() ? nullptr : &*late;
  }

  static std::string last_words(const Member& member) {
    const std::string words = member.child.last_words();
    return words.empty() ? "" : fmt::format("\nIts last words: {}", words);
  }

  [[noreturn]] static void throw_lost(const std::string& what, const Job& job, const Member& member,
                                      std::string_view remark = "") {
    throw Error(ErrorKind::peer_lost,
                fmt::format("{} while {}{}{}", what, description(job), remark, last_words(member)));
  }

  [[noreturn]] static void throw_failure(const Job& job, const Member& member) {
    const std::string text = fmt::format("rank {} failed while {}: {}{}", member.child.rank(),
                                         description(job), member.answer->text, last_words(member));
    if (!member.answer->error) {
      throw Bug(text);
    }
    throw Error(*member.answer->error, text);
  }

  /// Ends the ranks as they would like to end.
  void say_goodbye() {
    for (Member& member : members_) {
      member.child.close_control();
    }
    const Clock::time_point deadline = Clock::now() + kFarewell;
    for (Member& member : members_) {
      while (!member.child.end() && Clock::now() < deadline) {
        member.child.read_error_output();  // A full pipe must not keep it.
        ::poll(nullptr, 0, 1);
      }
    }
  }

  milliseconds timeout_;
  InterruptGuard& interrupts_;
  TemporaryDirectory directory_;
  std::deque<Member> members_;  ///< After the directory: ranks end before it goes.
  bool healthy_ = false;        ///< No job was left unfinished.
};

}  // namespace

std::unique_ptr<Ranks> start_processes(int num_ranks, const LaunchOptions& options,
                                       InterruptGuard& interrupts) {
  return std::make_unique<ProcessRanks>(num_ranks, options, interrupts);
}

}  // namespace ringside
