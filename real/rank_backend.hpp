#pragma once

#include <functional>
#include <memory>
#include <span>

#include "real/collective_values.hpp"
#include "real/program.hpp"
#include "real/progress.hpp"
#include "real/ready_call.hpp"
#include "real/transport.hpp"

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
  bool own_cores = false;              ///< No rank shares a core with another; the same at all ranks.

  /// How the backend runs a program.
  Pacing pacing() const {
    // On a device all transfers of a round are one call, which ends when the last of them does.
    return device != nullptr ? Pacing::round_by_round : own_cores ? Pacing::in_slices : Pacing::receive_ahead;
  }
};

}  // namespace ringside
