#pragma once

#include <memory>
#include <optional>
#include <string>

#include "real/execute/collective_values.hpp"
#include "results/measurement.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

class Executor;
struct RankBackend;

/// An element that is not as it must be.
struct WrongElement {
  std::int64_t element = 0;
  double found = 0;
};

/// How calls got onto a device.
struct CallLaunch {
  DeviceLaunch device = {};
  std::string note = {};  ///< What a reader must know about it.
};

/// A program or a library's own collective at one rank, ready to be run any number of times on memory of its
/// own, where its backend works. All ranks run theirs together.
class ReadyCall {
 public:
  virtual ~ReadyCall() = default;

  /// Before anything else, once all ranks have made theirs: connects, and prepares what can be prepared.
  virtual void warm_up() = 0;
  /// Restores the message to what this rank holds at the start.
  virtual void write_input(const CollectiveValues& values) = 0;
  /// Returns the call's seconds here, by the running device's clock. Throws Error{peer_lost}.
  virtual double run() = 0;
  /// The first element of the last run's result that is not as promised.
  virtual std::optional<WrongElement> first_wrong(const CollectiveValues& values) = 0;
  /// How the calls were made so far, where that is not plain.
  virtual std::optional<CallLaunch> launch() const = 0;
  /// What runs a program on the CPU, for those who want to look inside; null for anything else.
  virtual Executor* executor() = 0;
};

/// Throw std::bad_alloc, or Error{environment} with the reason, when there is not enough memory.
/// `as_library`: over messages such as the library's own collectives send; `backend` then cuts its own.
std::unique_ptr<ReadyCall> make_ready(const Program& program, const RankBackend& backend,
                                      bool as_library = false);
/// The library's own collective. The backend must not have called it unsupported.
std::unique_ptr<ReadyCall> make_ready(const CollectiveCall& call, const RankBackend& backend);

}  // namespace ringside
