#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "real/launch/rank_child.hpp"
#include "real/launch/rank_messages.hpp"
#include "real/system/interrupt.hpp"

namespace ringside {

/// Rank processes as their parent watches them: hears what they answer, and finds the root cause when
/// something goes wrong. The destructor ends them all.
class RankWatch {
 public:
  struct Patience {
    std::chrono::milliseconds timeout;  ///< After which a rank complains that it waits in vain.
    /// A rank that works says so from time to time; without it, ranks may be silent for as long as they like.
    bool heartbeat = true;
  };

  /// `interrupts` must outlive it.
  RankWatch(Patience patience, InterruptGuard& interrupts) : patience_(patience), interrupts_(interrupts) {}
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Starts the next rank: a command or a function, as RankChild takes them.
  template <typename Program>
  void start(const Program& program) {
    members_.emplace_back(num_ranks(), program);
  }
  int num_ranks() const { return static_cast<int>(members_.size()); }

  /// Sends a line to all ranks.
  void send(const std::string& line);

  /// Waits until each rank has answered once, and returns rank 0's answer. Throws Error{peer_lost} when a
  /// rank died or hung, with rank and cause; Error of another kind as a rank met it; Interrupted when a
  /// signal came. `doing` completes "rank 2 was killed by signal 9 while …".
  Answer wait_for_answers(const std::string& doing);

 private:
  using Clock = std::chrono::steady_clock;

  /// A rank and what has been heard of it since the last question.
  struct Member {
    template <typename Program>
    Member(Rank rank, const Program& program) : child(rank, program) {}

    RankChild child;
    Clock::time_point last_heard = Clock::now();
    std::optional<Answer> answer = {};  ///< done or failed
    bool gone = false;                  ///< Its end of the control socket is closed.
  };

  static bool failed(const Member& member);
  bool overdue(const Member& member) const;
  bool trouble() const;
  void forgive(std::chrono::milliseconds pause);
  void listen_to_the_others();
  void listen(std::chrono::milliseconds time);
  static void hear(Member& member);
  [[noreturn]] void throw_root_cause(const std::string& doing);
  [[noreturn]] void throw_silent(const Member& member, const std::string& doing,
                                 std::string_view remark = "") const;
  void throw_if_paused(const std::string& doing) const;
  void throw_if_starved(const Member& silent, const std::string& doing);
  const Member* find_stopped() const;
  const Member* find_silent() const;
  void say_goodbye();

  Patience patience_;
  InterruptGuard& interrupts_;
  std::deque<Member> members_;
  bool healthy_ = false;  ///< Every question was answered.
  /// Since the last question, this process itself did not run for so long.
  std::chrono::milliseconds paused_{0};
  Clock::time_point last_look_ = Clock::now();
};

}  // namespace ringside
