#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "common/names.hpp"
#include "common/units.hpp"
#include "scenario/machine/machine.hpp"

/// What is known of each backend, so that nobody else in sim/ asks which one it is.
namespace ringside {

/// Which model predicts a backend's own collectives (`native`).
enum class OwnCollectives { unknown, gloo_ring, nccl, two_shot, mpi_rules };

struct BackendModel {
  Backend backend;
  OwnCollectives own = OwnCollectives::unknown;
  bool on_gpus = false;
  /// Its ranks keep to cores of their own where there are enough.
  bool owns_cores = false;
  /// Its ranks read and write one memory.
  bool through_memory = false;
};

/// The row of `backend`; of `automatic`: of the one whose `native` is meant on this machine.
const BackendModel& backend_model(const Machine& machine, Backend backend);

/// The row of the backend of this name that calibrated a machine; else that of an unknown one.
const BackendModel& backend_model(const std::string& name);

/// Gloo's own all_reduce is a pipelined ring. Each rank has two segments in flight: it starts the next one
/// before it waits for the one before.
inline constexpr int kGlooRingInFlight = 2;

/// Into how many segments it cuts each rank's part of the message. gloo::allreduce of 2022-05
/// (gloo/allreduce.cc, function ring; the 1 MiB limit is public as AllreduceOptionsImpl::kMaxSegmentSize in
/// gloo/allreduce.h) is the default algorithm and cuts the message into
///   segments = round_up(max(ceil(bytes / max_segment), 2 · ranks), ranks)
/// so that each rank owns the same number of them and at least two: it sends and receives one segment while
/// it reduces another. max_segment is 1 MiB, rounded down to whole elements.
inline int gloo_ring_segments(Bytes size, DataType dtype, int num_ranks) {
  constexpr std::int64_t kMaxSegmentBytes = 1 << 20;
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t max_segment = element * std::max<std::int64_t>(1, kMaxSegmentBytes / element);
  const std::int64_t needed = size.value / max_segment + (size.value % max_segment > 0 ? 1 : 0);
  const std::int64_t segments = std::max<std::int64_t>(needed, std::int64_t{2} * num_ranks);
  return static_cast<int>(
      std::min<std::int64_t>((segments + num_ranks - 1) / num_ranks, std::numeric_limits<int>::max()));
}

}  // namespace ringside
