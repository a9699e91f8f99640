#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

/// Simulated time, and the things that go on in it. An activity has an amount of work left and a rate at
/// which it is done; whoever shares out the machine sets the rates, and this class knows what completes next.
///
/// Time is a double. Whole picoseconds would round every transfer by up to half a picosecond and break the
/// 1e-9 agreement with the closed form; runs are reproducible to the last bit all the same, because equal
/// inputs meet the same operations in the same order: ties are broken by the order in which activities began.
namespace ringside {

class Activities {
 public:
  using Id = std::int32_t;

  Activities() { recent_.fill(kNone); }

  double now() const { return now_; }

  /// A new activity; it stands still until it gets a rate. Ids are small and used again.
  Id begin(double work);
  /// Gives a completed activity new work instead of ending it.
  void renew(Id id, double work);
  /// Forgets a completed activity.
  void end(Id id);
  /// Work per second from now on; infinite completes at once.
  void set_rate(Id id, double rate);
  /// What is left of it now.
  double work_left(Id id) const {
    const Slot& left = slots_[static_cast<std::size_t>(id)];
    return std::max(0.0, left.work - left.rate * (now_ - left.since));
  }
  double rate(Id id) const { return slots_[static_cast<std::size_t>(id)].rate; }

  /// Goes on to the next time at which something completes and replaces `completed` by all that completes
  /// then (within 1e-12, relative, so that symmetric activities stay together), in the order in which they
  /// began. False when nothing is going on.
  bool advance(std::vector<Id>& completed);

 private:
  static constexpr std::int32_t kNone = -1;

  struct Slot {
    double work = 0;  ///< Left at time `since`.
    double rate = 0;
    double since = 0;
    std::int64_t order = 0;  ///< How many activities began before.
    std::int32_t group = kNone;
    std::int32_t member = 0;  ///< Index within the group.
  };
  /// Activities that complete at exactly the same time. Symmetric schedules have few groups with many
  /// members, and joining one costs less than another entry in the queue.
  struct Group {
    std::vector<Id> members;  ///< kNone where one has left.
    std::int32_t num_members = 0;
    std::int32_t position = kNone;  ///< In the queue.
    double time = 0;
  };
  struct Entry {
    double time = 0;
    std::int32_t group = 0;
  };

  Slot& slot(Id id) { return slots_[static_cast<std::size_t>(id)]; }
  Group& group(std::int32_t id) { return groups_[static_cast<std::size_t>(id)]; }
  std::int32_t& recent_group(double time);
  void join(Id id, double time);
  void leave(Id id);
  std::int32_t open_group(double time);
  void put(std::size_t position, const Entry& entry);
  void sift_up(std::size_t position, const Entry& entry);
  void sift_down(std::size_t position, const Entry& entry);
  void remove(std::size_t position);

  double now_ = 0;
  std::int64_t num_begun_ = 0;
  std::vector<Slot> slots_;
  std::vector<Id> unused_slots_;
  std::vector<Group> groups_;
  std::vector<std::int32_t> unused_groups_;
  std::array<std::int32_t, 64>
      recent_;                ///< Groups by a hash of their time; some are closed or were replaced.
  std::vector<Entry> queue_;  ///< A heap of groups, earliest first.
};

}  // namespace ringside
