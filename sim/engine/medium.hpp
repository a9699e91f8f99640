#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/units.hpp"
#include "results/prediction.hpp"
#include "schedule/program/receive_ahead.hpp"
#include "sim/sharing/activities.hpp"

namespace ringside {

enum class WorkKind : std::uint8_t { transfer, reduction, local_copy };

/// Something that a machine is asked to do. Source and target are the same rank but for transfers.
struct Work {
  WorkKind kind = WorkKind::transfer;
  Rank source = 0;
  Rank target = 0;
  std::int64_t bytes = 0;
  Receiver receiver = Receiver::fresh;
  bool reduces = false;  ///< A transfer that is reduced while it arrives.
};

/// Where an activity is that has completed its work for now.
enum class Stage : std::uint8_t {
  under_way,  ///< More work follows: the latency is over and the bytes come, say.
  sent,       ///< The source of a transfer may go on; the rest of the work follows.
  done,       ///< The activity has ended.
};

/// What ranks compete for: it decides how fast the activities go that are under way together.
class Medium {
 public:
  virtual ~Medium() = default;
  /// Whether the work takes no time at all; such work is not begun.
  virtual bool free(const Work& work) const = 0;
  /// Starts the work as an activity.
  virtual Activities::Id begin(const Work& work) = 0;
  /// Called when an activity has completed.
  virtual Stage finish(Activities::Id id) = 0;
  /// Gives every activity its rate; called once after everything that happens at one time.
  virtual void share() = 0;
  /// What slowed the work down, most important first, as in Prediction::limits.
  virtual std::vector<Limit> limits() const = 0;
  /// Through how many of their NICs the ranks talked, as in Prediction::nics.
  virtual std::optional<NicUse> nics() const = 0;
};

}  // namespace ringside
