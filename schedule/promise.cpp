#include "schedule/promise.hpp"

namespace ringside {

bool scattered(Collective collective) {
  return collective == Collective::gather || collective == Collective::all_gather ||
         collective == Collective::reduce_scatter || messages_in_buffer(collective, 2) > 1;
}

int messages_in_buffer(Collective collective, int num_ranks) {
  return collective == Collective::all_to_all || collective == Collective::send_recv ? num_ranks : 1;
}

Bytes buffer_of_message(Collective collective, int num_ranks, Bytes message) {
  return {message.value * messages_in_buffer(collective, num_ranks)};
}

Bytes buffer_of(const PointKey& key) { return buffer_of_message(key.collective, key.ranks, key.bytes); }

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}

Rank owner_of_chunk(const Schedule& schedule, std::int32_t chunk) {
  return chunk / (schedule.num_chunks() / schedule.num_ranks());
}

bool holds_at_start(const Schedule& schedule, Rank rank, std::int32_t chunk) {
  switch (schedule.algorithm().collective) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
      return true;
    case Collective::broadcast:
      return rank == schedule.request().root;
    case Collective::gather:
    case Collective::all_gather:
    case Collective::all_to_all:
    case Collective::send_recv:
      return rank == owner_of_chunk(schedule, chunk);
  }
  return false;
}

bool promised_at_end(const Schedule& schedule, Rank rank, std::int32_t chunk) {
  switch (schedule.algorithm().collective) {
    case Collective::all_reduce:
    case Collective::broadcast:
    case Collective::all_gather:
      return true;
    case Collective::reduce:
    case Collective::gather:
      return rank == schedule.request().root;
    case Collective::reduce_scatter:
      return rank == owner_of_chunk(schedule, chunk);
    case Collective::all_to_all:
      return rank == chunk % schedule.num_ranks();
    case Collective::send_recv:
      return rank == (owner_of_chunk(schedule, chunk) + 1) % schedule.num_ranks();
  }
  return false;
}

}  // namespace ringside
