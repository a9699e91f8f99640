#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "real/collective_values.hpp"
#include "real/program.hpp"
#include "real/progress.hpp"
#include "real/ready_call.hpp"
#include "real/transport.hpp"
#include "schedule/slices.hpp"

namespace ringside {

/// A collective of the backend's own library, ready to run on the memory for which it was made.
using NativeCall = std::function<void()>;

/// Where a rank's calls run when that is not the CPU. Functions are called by all ranks at once.
class RankDevice {
 public:
  virtual ~RankDevice() = default;
  /// Whether another rank works on the same device.
  virtual bool oversubscribed() const = 0;
  virtual std::unique_ptr<ReadyCall> make_ready(const Program& program) = 0;
  virtual std::unique_ptr<ReadyCall> make_ready(const CollectiveCall& call) = 0;
};

/// What a backend gives to one rank.
struct RankBackend {
  Backend backend = Backend::gloo;
  /// Between the CPUs of the ranks: what they agree on, and without a device also what they measure.
  std::unique_ptr<Transport> transport;
  /// Without a device: makes the library's own collective, in place on `message`. Called by all ranks at once.
  std::function<NativeCall(const CollectiveCall& call, std::span<std::byte> message)> make_native;
  std::unique_ptr<RankDevice> device;  ///< Null: the CPU.
  Progress* progress = nullptr;        ///< May be null.
  /// Of the ranks, which are all on this machine; the same at all ranks. None: somebody else places them.
  std::optional<Cores> cores;

  /// How the backend runs a program.
  Pacing pacing() const {
    // On a device all transfers of a round are one call, which ends when the last of them does.
    if (device != nullptr) {
      return Pacing::round_by_round;
    }
    if (!cores) {
      return Pacing::receive_ahead;
    }
    return *cores == Cores::own ? Pacing::in_slices_on_own_cores : Pacing::in_slices_on_shared_cores;
  }
};

}  // namespace ringside
