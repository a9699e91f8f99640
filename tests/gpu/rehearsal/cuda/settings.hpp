#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// What a test asks of the rehearsal device, by two environment variables.
///
///   RINGSIDE_REHEARSAL="gpus=8,memory=1073741824,driver=13000,peers=1,seed=0,nccl=22809,taken=0,others=0"
///     gpus     how many there are; memory of each, bytes; driver 0 = none is loaded, too old below 12000
///     peers    0 = no GPU reaches another's memory; taken=1 = another process has every GPU for itself
///     seed     0 = streams run as fast as they can; otherwise each is held back in a way of its own
///     others   processes that compute on each GPU, as NVML tells
///
///   RINGSIDE_REHEARSAL_FAULTS="cudaMalloc#3=2;ncclGroupEnd#5@1=die"
///     CALL#N@GPU=ACTION: the Nth time (default 1) that a process of that GPU (default: any) makes the call.
///     ACTION: a number = it returns that error; late:NUMBER = its work fails with that error (CUDA) or state
///     (NCCL); die, stop = SIGKILL, SIGSTOP; slow:NUMBER = milliseconds late; nothing = it only says success.
namespace rehearsal {

struct Settings {
  int gpus = 8;
  std::int64_t memory = std::int64_t{1} << 30;
  int driver = 13000;
  bool peers = true;
  bool taken = false;
  int others = 0;
  std::uint64_t seed = 0;
  int nccl = 22809;
};

/// As the environment says now.
Settings settings();

enum class FaultKind : std::uint8_t { returns, late, skipped };
struct Fault {
  FaultKind kind = FaultKind::returns;
  int code = 0;
};

/// Counts this call and says what is to go wrong with it. Does not return where the process is to die.
std::optional<Fault> fault_at(const char* call, int gpu);

/// Writes "rehearsal device: CALL: why" to standard error, at once.
void complain(const char* call, const std::string& why);

}  // namespace rehearsal
