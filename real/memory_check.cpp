#include "real/memory_check.hpp"

#include <numeric>
#include <string>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/program.hpp"
#include "real/rank_jobs.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

/// Every rank is a process with a connection to every other one.
constexpr int kMaxLocalRanks = 1024;

/// Gloo's own collectives take two segments of at most 1 MiB beside the message (gloo/allreduce.h).
constexpr std::int64_t kNativeScratch = 2LL << 20;

std::string gigabytes(Bytes size) { return fmt::format("{:.1f} GB", static_cast<double>(size.value) / 1e9); }

}  // namespace

Bytes memory_of_point(const PointKey& key) {
  if (key.algorithm == kNative) {
    return {key.ranks * (key.bytes.value + kNativeScratch)};
  }
  const Algorithm* algorithm = find_algorithm(key.collective, key.algorithm);
  RINGSIDE_CHECK(algorithm != nullptr, "points are checked before their memory is");
  const Schedule schedule(*algorithm, {.collective = key.collective, .num_ranks = key.ranks});
  const Vector vector = {.num_elements = key.bytes.value / static_cast<std::int64_t>(size_of(key.dtype)),
                         .dtype = key.dtype,
                         .op = key.op};
  std::int64_t bytes = 0;
  for (Rank rank = 0; rank < key.ranks; ++rank) {
    const Program program = compile(schedule, vector, rank);
    bytes = std::accumulate(program.buffer_bytes.begin(), program.buffer_bytes.end(), bytes);
  }
  return {bytes};
}

void require_ranks(int num_ranks) {
  if (num_ranks > kMaxLocalRanks) {
    throw Error(ErrorKind::environment,
                fmt::format("{} ranks are too many for one machine; ringside starts up to {}", num_ranks,
                            kMaxLocalRanks));
  }
}

void require_memory(const PointKey& key, Bytes available) {
  require_ranks(key.ranks);
  const Bytes needed = memory_of_point(key);
  if (needed > available) {
    throw Error(
        ErrorKind::environment,
        fmt::format("{} needs {} of memory (messages and scratch of all ranks), but only {} is available",
                    description(key), gigabytes(needed), gigabytes(available)));
  }
}

}  // namespace ringside
