#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "real/execute/collective_values.hpp"
#include "real/execute/device_calls.hpp"
#include "real/execute/progress.hpp"
#include "real/execute/ready_call.hpp"
#include "real/execute/transport.hpp"
#include "results/measurement.hpp"
#include "scenario/machine/execution_rules.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

/// Where a rank's calls run when that is not the CPU. Functions are called by all ranks at once.
class RankDevice {
 public:
  virtual ~RankDevice() = default;
  /// Whether another rank works on the same device.
  virtual bool shares_gpu() const = 0;
  virtual std::unique_ptr<ReadyCall> make_ready(const Program& program) = 0;
  virtual std::unique_ptr<ReadyCall> make_ready(const CollectiveCall& call) = 0;
  /// For programs with memory of their own; the device must outlive what it gives them, except memory.
  virtual std::unique_ptr<DeviceCalls> make_calls() = 0;
};

/// What a backend gives to one rank.
struct RankBackend {
  Backend backend = Backend::gloo;
  /// Between the CPUs of the ranks: what they agree on, and without a device also what they measure.
  std::unique_ptr<Transport> transport;
  /// Where the library's own collectives move data otherwise: one that does so, too. Else null.
  std::unique_ptr<Transport> library_transport;
  /// Without a device: makes the library's own collective, in place on `message`. All ranks call at once.
  std::function<NativeCall(const CollectiveCall& call, std::span<std::byte> message)> make_native;
  std::unique_ptr<RankDevice> device;  ///< Null: the CPU.
  Progress* progress = nullptr;        ///< May be null.
  MachineTuning tuning = {};           ///< What the ranks have done to the machine; the same at all of them.
  /// Where known, the socket of its node on which each rank's cores lie; the same at all of them.
  std::vector<int> sockets = {};
  /// Where ranks without a device work; the same at all of them.
  RankSite cpu_site = RankSite::cpu;
  /// Ranks that share cores are not put under batch scheduling: whoever waits awake must give up its core
  /// soon, and whoever is woken must run before other programs.
  bool keeps_scheduling = false;

  /// By which rules the backend runs schedules.
  ExecutionRules rules() const { return rules_of(device != nullptr ? RankSite::gpu : cpu_site); }
};

}  // namespace ringside
