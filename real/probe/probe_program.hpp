#pragma once

#include <cstddef>
#include <cstdint>

#include "results/probe_sample.hpp"
#include "scenario/machine/execution_rules.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

/// What one rank does in one call of a probe.
struct ProbeProgram {
  Program program = {};
  double repeats = 1;  ///< How many times a run does what is asked for.
  /// The first reduction of a reduction probe: steps from here on are timed, the transfer before is not.
  std::size_t first_reduction = 0;
  bool counts = true;  ///< Whether this rank's clock does.

  /// In the buffer that is sent from.
  std::int64_t num_elements() const {
    return program.buffer_bytes.front() / static_cast<std::int64_t>(sizeof(float));
  }
};

ProbeProgram probe_program(const ProbeKey& key, Rank rank, int num_ranks, RankSite site);

}  // namespace ringside
