#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "real/execute/memory.hpp"
#include "real/execute/transport.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

/// When a step began and ended, on this machine's steady clock.
struct StepTime {
  Seconds begin;
  Seconds end;
};

/// The steady clock as StepTime shows it.
Seconds steady_now();

/// Runs a program on CPU memory over a transport, as often as asked. All memory and all transfers are made by
/// the constructors; run() allocates nothing. Where the transport can reduce what arrives, it does so
/// wherever the result is the same (reductions_on_arrival.hpp).
class Executor {
 public:
  /// With a message of its own. Throws std::bad_alloc when there is not enough memory. The transport must
  /// outlive the executor.
  Executor(Program program, Transport& transport);
  /// In place on a borrowed message, which must live whenever run() is called.
  Executor(Program program, Transport& transport, std::span<std::byte> message);

  /// Buffer 0, the message: input before run(), result after it.
  std::span<std::byte> message() const { return buffers_.front(); }
  std::span<std::byte> bytes(const Region& region) const;

  /// Throws Error{peer_lost}; the executor and its transport are of no more use then.
  void run();
  /// The same, and writes down when each of the program's steps began and ended.
  void run(std::span<StepTime> times);

  const Program& program() const { return program_; }

 private:
  void make_transfers(Transport& transport);
  void run_step(std::size_t index);

  Program program_;
  std::int64_t element_size_;
  std::vector<OwnMemory> memory_;              ///< What is its own of …
  std::vector<std::span<std::byte>> buffers_;  ///< … the program's buffers.
  std::vector<std::unique_ptr<Transfer>>
      transfers_;                      ///< Per step; null for other steps than send and receive.
  std::vector<bool> done_on_arrival_;  ///< Per step: a reduction that its receive makes.
};

}  // namespace ringside
