#include "sim/activities.hpp"

#include <algorithm>

#include "common/error.hpp"

namespace ringside {

namespace {

/// Children per node of the heap: four share a cache line or two, and the tree is half as deep as with two.
constexpr std::size_t kArity = 4;
constexpr double kSameTime = 1e-12;

}  // namespace

Activities::Id Activities::begin(double work) {
  Id id = 0;
  if (unused_.empty()) {
    id = static_cast<Id>(slots_.size());
    slots_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  renew(id, work);
  return id;
}

void Activities::renew(Id id, double work) {
  slots_[index(id)] = {.work = work, .since = now_, .order = num_begun_++};
}

void Activities::end(Id id) {
  RINGSIDE_CHECK(slots_[index(id)].position == kNone, "an activity ended that is still going on");
  unused_.push_back(id);
}

void Activities::set_rate(Id id, double rate) {
  Slot& slot = slots_[index(id)];
  if (rate == slot.rate) {
    return;
  }
  if (now_ > slot.since) {
    slot.work = std::max(0.0, slot.work - slot.rate * (now_ - slot.since));
    slot.since = now_;
  }
  slot.rate = rate;
  RINGSIDE_CHECK(rate > 0, "an activity would never complete");
  const Entry entry{.time = now_ + slot.work / rate, .order = slot.order, .id = id};
  if (slot.position == kNone) {
    queue_.emplace_back();
    sift_up(queue_.size() - 1, entry);
    return;
  }
  const std::size_t position = index(slot.position);
  if (entry.before(queue_[position])) {
    sift_up(position, entry);
  } else {
    sift_down(position, entry);
  }
}

bool Activities::advance(std::vector<Id>& completed) {
  completed.clear();
  if (queue_.empty()) {
    return false;
  }
  now_ = queue_.front().time;
  const double latest = now_ * (1 + kSameTime);
  batch_.clear();
  while (!queue_.empty() && queue_.front().time <= latest) {
    batch_.push_back(queue_.front());
    remove_first();
  }
  // Entries with exactly the same time come in order already.
  if (batch_.back().time != batch_.front().time) {
    std::sort(batch_.begin(), batch_.end(), [](const Entry& a, const Entry& b) { return a.order < b.order; });
  }
  for (const Entry& entry : batch_) {
    slots_[index(entry.id)].position = kNone;
    completed.push_back(entry.id);
  }
  return true;
}

void Activities::put(std::size_t position, const Entry& entry) {
  queue_[position] = entry;
  slots_[index(entry.id)].position = static_cast<std::int32_t>(position);
}

void Activities::sift_up(std::size_t position, const Entry& entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kArity;
    if (!entry.before(queue_[parent])) {
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
      if (queue_[child].before(queue_[earliest])) {
        earliest = child;
      }
    }
    if (!queue_[earliest].before(entry)) {
      break;
    }
    put(position, queue_[earliest]);
    position = earliest;
  }
  put(position, entry);
}

void Activities::remove_first() {
  const Entry last = queue_.back();
  queue_.pop_back();
  if (!queue_.empty()) {
    sift_down(0, last);
  }
}

}  // namespace ringside
