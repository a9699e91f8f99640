#include "sim/sharing/activities.hpp"

#include <bit>

#include "common/error.hpp"

namespace ringside {

namespace {

/// Children per node of the heap: four share a cache line, and the tree is half as deep as with two.
constexpr std::size_t kArity = 4;
constexpr double kSameTime = 1e-12;

}  // namespace

Activities::Id Activities::begin(double work) {
  Id id = 0;
  if (unused_slots_.empty()) {
    id = static_cast<Id>(slots_.size());
    slots_.emplace_back();
  } else {
    id = unused_slots_.back();
    unused_slots_.pop_back();
  }
  renew(id, work);
  return id;
}

void Activities::renew(Id id, double work) {
  slot(id) = {.work = work, .since = now_, .order = num_begun_++};
}

void Activities::end(Id id) {
  RINGSIDE_CHECK(slot(id).group == kNone, "an activity ended that is still going on");
  unused_slots_.push_back(id);
}

void Activities::set_rate(Id id, double rate) {
  Slot& changed = slot(id);
  if (rate == changed.rate) {
    return;
  }
  RINGSIDE_CHECK(rate > 0, "an activity would never complete");
  if (now_ > changed.since) {
    changed.work = std::max(0.0, changed.work - changed.rate * (now_ - changed.since));
    changed.since = now_;
  }
  changed.rate = rate;
  if (changed.group != kNone) {
    leave(id);
  }
  join(id, now_ + changed.work / rate);
}

bool Activities::advance(std::vector<Id>& completed) {
  completed.clear();
  if (queue_.empty()) {
    return false;
  }
  now_ = queue_.front().time;
  const double latest = now_ * (1 + kSameTime);
  while (!queue_.empty() && queue_.front().time <= latest) {
    const std::int32_t id = queue_.front().group;
    for (const Id member : group(id).members) {
      if (member != kNone) {
        slot(member).group = kNone;
        completed.push_back(member);
      }
    }
    remove(0);
  }
  const auto began_before = [this](Id a, Id b) { return slot(a).order < slot(b).order; };
  if (!std::is_sorted(completed.begin(), completed.end(), began_before)) {
    std::ranges::sort(completed, began_before);
  }
  return true;
}

std::int32_t& Activities::recent_group(double time) {
  // The low bits of a time differ most; a multiplication carries them to the top (Fibonacci hashing).
  const std::uint64_t hash = std::bit_cast<std::uint64_t>(time) * 0x9E3779B97F4A7C15U;
  return recent_[hash >> 58];
}

void Activities::join(Id id, double time) {
  std::int32_t& recent = recent_group(time);
  if (recent == kNone || group(recent).position == kNone || group(recent).time != time) {
    recent = open_group(time);
  }
  Group& joined = group(recent);
  slot(id).group = recent;
  slot(id).member = static_cast<std::int32_t>(joined.members.size());
  joined.members.push_back(id);
  ++joined.num_members;
}

void Activities::leave(Id id) {
  Slot& leaving = slot(id);
  Group& left = group(leaving.group);
  left.members[static_cast<std::size_t>(leaving.member)] = kNone;
  leaving.group = kNone;
  if (--left.num_members == 0) {
    remove(static_cast<std::size_t>(left.position));
  }
}

std::int32_t Activities::open_group(double time) {
  std::int32_t id = 0;
  if (unused_groups_.empty()) {
    id = static_cast<std::int32_t>(groups_.size());
    groups_.emplace_back();
  } else {
    id = unused_groups_.back();
    unused_groups_.pop_back();
  }
  Group& opened = group(id);
  opened.members.clear();
  opened.num_members = 0;
  opened.time = time;
  queue_.emplace_back();
  sift_up(queue_.size() - 1, {.time = time, .group = id});
  return id;
}

void Activities::put(std::size_t position, const Entry& entry) {
  queue_[position] = entry;
  group(entry.group).position = static_cast<std::int32_t>(position);
}

void Activities::sift_up(std::size_t position, const Entry& entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kArity;
    if (entry.time >= queue_[parent].time) {
      break;
    }
    put(position, queue_[parent]);
    position = parent;
  }
  put(position, entry);
}

void Activities::sift_down(std::size_t position, const Entry& entry) {
  while (true) {
    const std::size_t first = position * kArity + 1;
    if (first >= queue_.size()) {
      break;
    }
    const std::size_t last = std::min(first + kArity, queue_.size());
    std::size_t earliest = first;
    for (std::size_t child = first + 1; child < last; ++child) {
      if (queue_[child].time < queue_[earliest].time) {
        earliest = child;
      }
    }
    if (queue_[earliest].time >= entry.time) {
      break;
    }
    put(position, queue_[earliest]);
    position = earliest;
  }
  put(position, entry);
}

/// Takes a group out of the queue and closes it.
void Activities::remove(std::size_t position) {
  const std::int32_t closed = queue_[position].group;
  group(closed).position = kNone;
  unused_groups_.push_back(closed);
  const Entry last = queue_.back();
  queue_.pop_back();
  if (position == queue_.size()) {
    return;
  }
  if (position > 0 && last.time < queue_[(position - 1) / kArity].time) {
    sift_up(position, last);
  } else {
    sift_down(position, last);
  }
}

}  // namespace ringside
