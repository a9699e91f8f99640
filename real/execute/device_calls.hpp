#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "common/units.hpp"
#include "real/execute/collective_values.hpp"
#include "real/execute/transport.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

/// Bytes in the memory of the host or of a rank's device.
struct MemoryPiece {
  std::byte* data = nullptr;
  std::size_t size = 0;
  bool on_device = false;
};

/// A collective that is ready to run, again and again, on the memory for which it was made. All ranks run
/// theirs together; it returns when it is done at this rank. Throws Error{peer_lost}.
using NativeCall = std::function<void()>;

/// A rank's device for programs with memory of their own: what is asked for comes behind what was asked for
/// before, and all functions but wait_for() return when it is done. From any thread, one at a time.
class DeviceCalls {
 public:
  virtual ~DeviceCalls() = default;

  /// Number of the device among those of this process.
  virtual int device() const = 0;

  /// Device memory, zero at first, while somebody holds it. Throws Error{environment} if too little.
  virtual std::shared_ptr<std::byte> allocate(Bytes size) = 0;
  /// Between pieces of equal size.
  virtual void copy(const MemoryPiece& source, const MemoryPiece& target) = 0;
  /// What comes next waits, on the device, for all on this stream so far; null is the default stream.
  virtual void wait_for(void* stream) = 0;

  /// In place on `message`, which must live whenever the call runs.
  virtual NativeCall make_call(const Program& program, std::byte* message) = 0;
  virtual NativeCall make_call(const CollectiveCall& call, std::byte* message) = 0;

  /// Messages between devices. Those started and not yet under way start together, when one of them is
  /// waited for, when a collective runs, or when start_messages() is called; they are done together.
  virtual Transport& messages() = 0;
  virtual void start_messages() = 0;
};

}  // namespace ringside
