#include "real/prepared_call.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

PreparedCall prepared_here(const PointKey& key, const RankBackend& backend) {
  PreparedCall prepared;
  CollectiveCall& call = prepared.call;
  call = {.collective = key.collective,
          .num_ranks = key.ranks,
          .dtype = key.dtype,
          .op = key.op,
          .num_elements = key.bytes.value / static_cast<std::int64_t>(size_of(key.dtype))};
  if (key.algorithm == kNative) {
    const ChunkLayout layout(call.num_elements, key.ranks);
    for (Rank rank = 0; rank < key.ranks; ++rank) {
      call.parts.push_back(layout.elements(rank));
    }
    prepared.memory = Memory(key.bytes.value);
    prepared.message = prepared.memory.bytes();
    prepared.run = backend.make_native(call, prepared.message);
    return prepared;
  }
  const Algorithm* algorithm = find_algorithm(key.collective, key.algorithm);
  RINGSIDE_CHECK(algorithm != nullptr, "points are checked before they are measured");
  const Schedule schedule(*algorithm, {.collective = key.collective, .num_ranks = key.ranks});
  call.parts = parts_of(schedule, call.num_elements);
  prepared.executor = std::make_unique<Executor>(
      compile(schedule, {.num_elements = call.num_elements, .dtype = key.dtype, .op = key.op},
              backend.transport->rank()),
      *backend.transport);
  prepared.message = prepared.executor->message();
  prepared.run = [executor = prepared.executor.get()] { executor->run(); };
  return prepared;
}

}  // namespace

std::optional<std::string> prepare(const PointKey& key, const RankBackend& backend,
                                   Coordination& coordination, PreparedCall& prepared) {
  bool done = false;
  try {
    prepared = prepared_here(key, backend);
    done = true;
  } catch (const std::bad_alloc&) {
    // The other ranks must hear of it before anybody starts.
  }
  const std::vector<double> ready = coordination.all_values(done ? 1 : 0);
  const auto failed = std::find(ready.begin(), ready.end(), 0.0);
  if (failed == ready.end()) {
    return std::nullopt;
  }
  return fmt::format("rank {} could not allocate its memory for {}", failed - ready.begin(),
                     format(key.bytes));
}

std::optional<std::string> wrong_result(const CollectiveValues& values, const PreparedCall& prepared,
                                        Rank rank, Coordination& coordination) {
  const std::optional<std::int64_t> own = values.first_wrong(rank, prepared.message);
  const std::vector<double> elements = coordination.all_values(own ? static_cast<double>(*own) : -1);
  const std::vector<double> found =
      coordination.all_values(own ? values.value_at(prepared.message, *own) : 0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] >= 0) {
      const auto element = static_cast<std::int64_t>(elements[i]);
      return fmt::format("rank {}, element {} of {}: found {}, due {}", i, element,
                         prepared.call.num_elements, found[i],
                         values.value_due(static_cast<Rank>(i), element));
    }
  }
  return std::nullopt;
}

}  // namespace ringside
