#include "real/launch/rank_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "real/execute/transport.hpp"
#include "real/system/core_wait.hpp"

namespace ringside {
namespace {

using std::chrono::milliseconds;

/// A rank that waits in vain says so when the timeout is over. Only if all of them hang does nobody; then the
/// parent decides, this much later.
constexpr milliseconds kPatience{2000};
/// From the first sign of trouble until others are heard: the first complaint rarely names the culprit.
constexpr milliseconds kGrace{100};
/// For so long we look, in pieces, whether a rank that does not answer gets a core.
constexpr milliseconds kLook{400};
constexpr milliseconds kPieceOfLook{50};
/// Ranks without work end by themselves in this time, or are killed.
constexpr milliseconds kFarewell{1000};
/// The parent waits in pieces of at most this length, and looks at deadlines in between.
constexpr milliseconds kPiece{500};
/// Longer than a busy machine keeps a process from its core; shorter stops matter little.
constexpr milliseconds kShortPause{200};

std::string output_tail(const RankChild& child) {
  const std::string tail = child.output_tail();
  return tail.empty() ? "" : fmt::format("\nThe end of its output: {}", tail);
}

[[noreturn]] void throw_lost(const std::string& what, const std::string& doing, const RankChild& child,
                             std::string_view remark = "") {
  throw Error(ErrorKind::peer_lost, fmt::format("{} while {}{}{}", what, doing, remark, output_tail(child)));
}

[[noreturn]] void throw_failure(const Answer& answer, const std::string& doing, const RankChild& child) {
  const std::string text =
      fmt::format("rank {} failed while {}: {}{}", child.rank(), doing, answer.text, output_tail(child));
  if (!answer.error) {
    throw Bug(text);
  }
  throw Error(*answer.error, text);
}

}  // namespace

RankWatch::~RankWatch() {
  // All at once, so that none sees another one go.
  if (healthy_) {
    say_goodbye();
  }
  for (Member& member : members_) {
    member.child.kill();
  }
}

void RankWatch::send(const std::string& line) {
  healthy_ = false;
  paused_ = milliseconds(0);
  last_look_ = Clock::now();
  for (Member& member : members_) {
    member.last_heard = Clock::now();
    member.gone = !member.child.send(line);
  }
}

Answer RankWatch::wait_for_answers(const std::string& doing) {
  healthy_ = false;
  while (
      std::ranges::any_of(members_, [](const Member& member) { return !member.answer || failed(member); })) {
    if (trouble()) {
      listen_to_the_others();
      if (trouble()) {  // What was late may have been heard meanwhile.
        throw_root_cause(doing);
      }
    }
    listen(kPiece);
  }
  healthy_ = true;
  Answer first = std::move(*members_.front().answer);
  for (Member& member : members_) {
    member.answer.reset();
  }
  return first;
}

bool RankWatch::failed(const Member& member) {
  return member.answer.has_value() && member.answer->kind == AnswerKind::failed;
}

bool RankWatch::overdue(const Member& member) const {
  return patience_.heartbeat && !member.answer &&
         Clock::now() >= member.last_heard + patience_.timeout + kPatience;
}

bool RankWatch::trouble() const {
  return std::ranges::any_of(
      members_, [this](const Member& member) { return member.gone || failed(member) || overdue(member); });
}

void RankWatch::listen_to_the_others() {
  const Clock::time_point deadline = Clock::now() + kGrace;
  while (Clock::now() < deadline) {
    listen(std::chrono::ceil<milliseconds>(deadline - Clock::now()));
  }
}

/// A time in which this process did not run (stopped, or starved of its core) counts against no rank: they
/// may have been stopped with it, and could not have been heard anyway.
void RankWatch::forgive(milliseconds pause) {
  paused_ += pause;
  for (Member& member : members_) {
    member.last_heard += pause;
  }
}

/// Waits until a rank says something, a signal comes, or the time is over; takes in all there is.
void RankWatch::listen(milliseconds time) {
  std::vector<pollfd> descriptors = {{.fd = interrupts_.descriptor(), .events = POLLIN, .revents = 0}};
  for (const Member& member : members_) {
    // poll() passes over negative numbers.
    descriptors.push_back({.fd = member.gone ? -1 : member.child.control(), .events = POLLIN, .revents = 0});
    descriptors.push_back({.fd = member.child.error_output(), .events = POLLIN, .revents = 0});
  }
  // In short pieces, so that a longer one shows that this process did not run; it may also have been stopped
  // since it last looked.
  const milliseconds piece = std::min(time, kPiece);
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(piece.count()));
  const Clock::time_point now = Clock::now();
  const auto unheard = std::chrono::ceil<milliseconds>(now - last_look_);
  last_look_ = now;
  if (unheard > piece + kShortPause) {
    forgive(unheard - piece);
  }
  if (const std::optional<int> signal = interrupts_.take()) {
    throw Interrupted{*signal};
  }
  for (Member& member : members_) {
    hear(member);
  }
}

void RankWatch::hear(Member& member) {
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

/// Reports what came first in the chain of causes: a rank that ended, then a failure of
/// a rank's own, then a rank that others wait for in vain and that says nothing. When ranks only wait for
/// each other, what those complain of whose time was over; ranks that lost them then are consequences.
void RankWatch::throw_root_cause(const std::string& doing) {
  for (Member& member : members_) {
    if (!failed(member)) {
      if (const std::optional<std::string> end = member.child.end()) {
        throw_lost(fmt::format("rank {} {}", member.child.rank(), *end), doing, member.child);
      }
    }
  }
  for (const Member& member : members_) {
    if (failed(member) && member.answer->error != ErrorKind::peer_lost) {
      throw_failure(*member.answer, doing, member.child);
    }
  }
  if (const Member* stopped = find_stopped()) {
    throw_silent(*stopped, doing, " (it is stopped)");
  }
  throw_if_paused(doing);
  if (const Member* silent = find_silent()) {
    throw_if_starved(*silent, doing);
    throw_silent(*silent, doing);
  }
  std::vector<std::string> complaints;
  for (const Member& member : members_) {
    if (failed(member) && member.answer->late) {
      complaints.push_back(member.answer->text);
    }
  }
  const auto complaint = std::ranges::find_if(members_, failed);
  if (complaint != members_.end()) {
    throw_lost(
        complaints.empty() ? complaint->answer->text : fmt::format("{}", fmt::join(complaints, " and ")),
        doing, complaint->child);
  }
  const auto gone = std::ranges::find_if(members_, [](const Member& m) { return m.gone; });
  RINGSIDE_CHECK(gone != members_.end(), "some rank is lost");
  throw_lost(fmt::format("rank {} closed its control socket", gone->child.rank()), doing, gone->child);
}

void RankWatch::throw_silent(const Member& member, const std::string& doing, std::string_view remark) const {
  throw_lost(fmt::format("rank {} did not answer within {}", member.child.rank(), text_of(patience_.timeout)),
             doing, member.child, remark);
}

/// Who was stopped for as long as ranks wait for each other finds deadlines over when it goes on; neither it
/// nor those who waited for it are at fault.
void RankWatch::throw_if_paused(const std::string& doing) const {
  const auto too_long = [&](milliseconds pause) {
    return pause > milliseconds(0) && pause + kPiece + kShortPause >= patience_.timeout;
  };
  if (too_long(paused_)) {
    throw Error(ErrorKind::peer_lost, fmt::format("this program did not run for {} while {}, and its ranks, "
                                                  "which wait for each other for {}, gave up; "
                                                  "nothing is wrong with them",
                                                  text_of(paused_), doing, text_of(patience_.timeout)));
  }
  std::vector<Rank> ranks;
  milliseconds longest{0};
  for (const Member& member : members_) {
    if (member.answer && member.answer->paused && too_long(*member.answer->paused)) {
      ranks.push_back(member.child.rank());
      longest = std::max(longest, *member.answer->paused);
    }
  }
  if (!ranks.empty()) {
    throw Error(ErrorKind::peer_lost,
                fmt::format("{} {} did not run for {} while {}, and ranks wait for each other for {}; "
                            "nothing else is known to be wrong with {}",
                            ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "), text_of(longest),
                            doing, text_of(patience_.timeout), ranks.size() == 1 ? "it" : "them"));
  }
}

/// Who does not answer because others have its core is not at fault.
void RankWatch::throw_if_starved(const Member& silent, const std::string& doing) {
  CoreWait wait(silent.child.process());
  while (wait.elapsed() < kLook) {
    listen(kPieceOfLook);
    wait.look();
  }
  if (2 * wait.longest() >= wait.elapsed()) {
    throw_lost(
        fmt::format("rank {} did not answer within {}", silent.child.rank(), text_of(patience_.timeout)),
        doing, silent.child,
        fmt::format("; others have its core: it did not run for {} of the last {}", text_of(wait.longest()),
                    text_of(wait.elapsed())));
  }
}

/// A rank that somebody has stopped and that goes on being so.
const RankWatch::Member* RankWatch::find_stopped() const {
  const auto found = std::ranges::find_if(
      members_, [](const Member& member) { return !member.answer && member.child.stopped(); });
  return found == members_.end() ? nullptr : &*found;
}

/// The rank that hangs, if one does: one that a complaint names, else any that is overdue. Ranks that work or
/// wait for somebody else are silent too, for a while.
const RankWatch::Member* RankWatch::find_silent() const {
  const auto silent = [](const Member& member) { return !member.answer; };
  for (const Member& complaining : members_) {
    if (failed(complaining) && complaining.answer->lost_peer) {
      const Member& named = members_[static_cast<std::size_t>(*complaining.answer->lost_peer)];
      if (silent(named)) {
        return &named;
      }
    }
  }
  const auto late = std::ranges::find_if(members_, [this](const Member& member) { return overdue(member); });
  return late == members_.end() ? nullptr : &*late;
}

/// Ends the ranks as they would like to end.
void RankWatch::say_goodbye() {
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

}  // namespace ringside
