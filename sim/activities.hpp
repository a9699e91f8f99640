#pragma once

#include <cstdint>
#include <vector>

/// Simulated time, and the things that go on in it. An activity has an amount of work left and a rate at which it is
/// done; whoever shares out the machine sets the rates, and this class knows what completes next.
///
/// Time is a double. Whole picoseconds would round every transfer by up to half a picosecond and break the 1e-9
/// agreement with the closed form; runs are reproducible to the last bit all the same, because equal inputs meet the
/// same operations in the same order: ties are broken by the order in which activities began.
namespace ringside {

class Activities {
 public:
  using Id = std::int32_t;

  double now() const { return now_; }

  /// A new activity; it stands still until it gets a rate. Ids are small and used again.
  Id begin(double work);
  /// Gives a completed activity new work instead of ending it.
  void renew(Id id, double work);
  /// Forgets a completed activity.
  void end(Id id);
  /// Work per second from now on; infinite completes at once.
  void set_rate(Id id, double rate);
  double rate(Id id) const { return slots_[index(id)].rate; }

  /// Goes on to the next time at which something completes and replaces `completed` by all that completes then (within
  /// 1e-12, relative, so that symmetric activities stay together), in the order in which they began. False when
  /// nothing is going on.
  bool advance(std::vector<Id>& completed);

 private:
  struct Slot {
    double work = 0;  ///< Left at time `since`.
    double rate = 0;
    double since = 0;
    std::int64_t order = 0;         ///< How many activities began before.
    std::int32_t position = kNone;  ///< In the queue.
  };
  struct Entry {
    double time = 0;
    std::int64_t order = 0;
    Id id = 0;

    bool before(const Entry& other) const {
      return time < other.time || (time == other.time && order < other.order);
    }
  };
  static constexpr std::int32_t kNone = -1;

  static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }
  void put(std::size_t position, const Entry& entry);
  void sift_up(std::size_t position, const Entry& entry);
  void sift_down(std::size_t position, const Entry& entry);
  void remove_first();

  double now_ = 0;
  std::int64_t num_begun_ = 0;
  std::vector<Slot> slots_;
  std::vector<Id> unused_;
  std::vector<Entry> queue_;  ///< A heap, earliest first.
  std::vector<Entry> batch_;
};

}  // namespace ringside
