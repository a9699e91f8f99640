#include "real/execute/prepared_call.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/program/program_proof.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

PreparedCall prepared_here(const PointKey& key, const RankPlacement& placement, const RankBackend& backend) {
  PreparedCall prepared;
  CollectiveCall& call = prepared.call;
  call = {.collective = key.collective,
          .num_ranks = key.ranks,
          .dtype = key.dtype,
          .op = key.op,
          .num_elements = buffer_of(key).value / static_cast<std::int64_t>(size_of(key.dtype))};
  if (key.algorithm == kNative) {
    const ChunkLayout layout(call.num_elements, key.ranks);
    for (Rank rank = 0; rank < key.ranks; ++rank) {
      call.parts.push_back(layout.elements(rank));
    }
    prepared.ready = make_ready(call, backend);
    return prepared;
  }
  const Schedule schedule = schedule_of(key, placement);
  call.parts = parts_of(schedule, call.num_elements);
  const Vector vector = {.num_elements = call.num_elements, .dtype = key.dtype, .op = key.op};
  const ExecutionPolicy policy = policy_for(schedule, buffer_of(key), backend.rules());
  const Rank rank = backend.transport->rank();
  if (rank == 0) {  // The others would prove the same.
    require_proof(schedule, vector, policy);
  }
  const Program program = compile(schedule, vector, rank, policy);
  prepared.policy = program.policy;
  prepared.ready = make_ready(program, backend);
  return prepared;
}

}  // namespace

Schedule schedule_of(const PointKey& key, const RankPlacement& placement) {
  const Algorithm* algorithm = find_algorithm(key.collective, key.algorithm);
  RINGSIDE_CHECK(algorithm != nullptr, "points are checked before they are measured");
  return {*algorithm, request_for(key.collective, key.ranks, placement)};
}

std::optional<std::string> prepare(const PointKey& key, const RankPlacement& placement,
                                   const RankBackend& backend, Coordination& coordination,
                                   PreparedCall& prepared) {
  bool done = false;
  try {
    prepared = prepared_here(key, placement, backend);
    done = true;
  } catch (const std::bad_alloc&) {
    // The other ranks must hear of it before anybody starts.
  }
  const std::vector<double> ready = coordination.all_values(done ? 1 : 0);
  const auto failed = std::find(ready.begin(), ready.end(), 0.0);
  if (failed == ready.end()) {
    prepared.ready->warm_up();
    return std::nullopt;
  }
  return fmt::format("rank {} could not allocate its memory for {}", failed - ready.begin(),
                     format(key.bytes));
}

std::optional<std::string> wrong_result(const CollectiveValues& values,
                                        const std::optional<WrongElement>& own, Coordination& coordination) {
  const std::vector<double> elements = coordination.all_values(own ? static_cast<double>(own->element) : -1);
  const std::vector<double> found = coordination.all_values(own ? own->found : 0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] >= 0) {
      const auto element = static_cast<std::int64_t>(elements[i]);
      return fmt::format("rank {}, element {} of {}: found {}, due {}", i, element,
                         values.call().num_elements, found[i],
                         values.value_due(static_cast<Rank>(i), element));
    }
  }
  return std::nullopt;
}

}  // namespace ringside
