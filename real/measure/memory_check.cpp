#include "real/measure/memory_check.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/nccl/settings.hpp"
#include "real/launch/external/external_rank.hpp"
#include "real/launch/rank_limits.hpp"
#include "real/measure/point_measurement.hpp"
#include "real/system/this_machine.hpp"
#include "schedule/program/program.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside {
namespace {

/// Up to so many ranks the memory of each is known exactly.
constexpr int kRanksLookedAt = 64;

/// Gloo's own collectives take two segments of at most 1 MiB beside the message (gloo/allreduce.h).
constexpr std::int64_t kNativeScratch = 2LL << 20;

std::string gigabytes(Bytes size) { return fmt::format("{:.1f} GB", static_cast<double>(size.value) / 1e9); }

}  // namespace

Bytes memory_of_rank(const PointKey& key, Rank rank) {
  if (key.algorithm == kNative) {
    return {buffer_of(key).value + kNativeScratch};
  }
  const Algorithm* algorithm = find_algorithm(key.collective, key.algorithm);
  RINGSIDE_CHECK(algorithm != nullptr, "points are checked before their memory is");
  const Schedule schedule(*algorithm, {.collective = key.collective, .num_ranks = key.ranks});
  const Vector vector = {.num_elements = buffer_of(key).value / static_cast<std::int64_t>(size_of(key.dtype)),
                         .dtype = key.dtype,
                         .op = key.op};
  const Program program = compile(schedule, vector, rank, {.receives_ahead = true});
  return {std::accumulate(program.buffer_bytes.begin(), program.buffer_bytes.end(), std::int64_t{0})};
}

Bytes memory_of_point(const PointKey& key) {
  std::int64_t bytes = 0;
  if (key.ranks <= kRanksLookedAt) {
    for (Rank rank = 0; rank < key.ranks; ++rank) {
      bytes += memory_of_rank(key, rank).value;
    }
    return {bytes};
  }
  // Compiling takes as long as all ranks' messages, so some ranks stand for others: rank 0, the root, for
  // itself, and the largest of some spread over the rest for each of them.
  constexpr Rank kSpread = 4;
  for (Rank sample = 1; sample <= kSpread; ++sample) {
    const auto rank = static_cast<Rank>(std::int64_t{key.ranks - 1} * sample / kSpread);
    bytes = std::max(bytes, memory_of_rank(key, rank).value);
  }
  return {memory_of_rank(key, 0).value + bytes * (key.ranks - 1)};
}

void require_memory(const PointKey& key, Bytes available) {
  require_ranks(key.ranks);
  const Bytes needed = memory_of_point(key);
  if (needed > available) {
    throw lacking("{} needs {} of memory (messages and scratch of all ranks), but only {} is available",
                  description(key), gigabytes(needed), gigabytes(available));
  }
}

void require_gpu_memory(const PointKey& key, int ranks_per_gpu, std::span<const GpuFacts> gpus) {
  if (const std::optional<std::string> too_few =
          too_few_gpus(static_cast<int>(gpus.size()), key.ranks, ranks_per_gpu)) {
    throw Error(ErrorKind::environment, *too_few);
  }
  std::vector<std::int64_t> needed(gpus.size(), 0);
  for (Rank rank = 0; rank < key.ranks; ++rank) {
    needed[static_cast<std::size_t>(gpu_of(rank, ranks_per_gpu))] += memory_of_rank(key, rank).value;
  }
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    const Bytes available = gpus[gpu].free.value_or(gpus[gpu].memory);
    if (needed[gpu] > available.value) {
      throw lacking("{} needs {} of memory on GPU {} ({}), but only {} is free", description(key),
                    gigabytes({needed[gpu]}), gpu, gpus[gpu].model, gigabytes(available));
    }
  }
}

void require_points(std::span<const PointKey> points, const LaunchOptions& options) {
  const bool on_gpus = registered(options.backend).on_gpus;
  const GpuMachine gpus = on_gpus ? gpu_machine() : GpuMachine{};
  const Bytes available = available_memory();
  for (const PointKey& key : points) {
    if (unsupported(key, options.backend)) {
      continue;
    }
    if (on_gpus && external_rank()) {
      continue;  // On several machines, perhaps; each rank takes and checks its own.
    }
    if (!registered(options.backend).ranks_are_threads && !external_rank()) {
      require_processes(key.ranks);
    }
    if (on_gpus) {
      require_gpu_memory(key, options.gpu.ranks_per_gpu, gpus.gpus);
    } else {
      require_memory(key, available);
    }
  }
}

}  // namespace ringside
