#include "schedule/promise.hpp"

#include "common/error.hpp"

namespace ringside {
namespace {

bool holds(const Schedule& schedule, Held what, Rank rank, std::int32_t chunk) {
  const int n = schedule.num_ranks();
  const auto owner = [&] { return chunk / (schedule.num_chunks() / n); };
  switch (what) {
    case Held::everything:
      return true;
    case Held::everything_at_root:
      return rank == schedule.request().root;
    case Held::own_part:
      return rank == owner();
    case Held::part_of_each:
      return rank == chunk % n;
    case Held::previous_part:
      return rank == (owner() + 1) % n;
  }
  throw_bug("a declared value", __FILE__, __LINE__, "no rank holds such a part");
}

}  // namespace

Bytes buffer_of_message(Collective collective, int num_ranks, Bytes message) {
  return {message.value * messages_in_buffer(collective, num_ranks)};
}

Bytes buffer_of(const PointKey& key) { return buffer_of_message(key.collective, key.ranks, key.bytes); }

bool holds_at_start(const Schedule& schedule, Rank rank, std::int32_t chunk) {
  return holds(schedule, row_of(schedule.algorithm().collective).starts, rank, chunk);
}

bool promised_at_end(const Schedule& schedule, Rank rank, std::int32_t chunk) {
  return holds(schedule, row_of(schedule.algorithm().collective).ends, rank, chunk);
}

}  // namespace ringside
