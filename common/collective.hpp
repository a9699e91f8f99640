#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "common/spellings.hpp"

/// The collectives, one row each: who holds what before and after, and what follows for all modules.
/// A new one is an enumerator and a row, its algorithms (schedule/algorithms/), and what must come out of it
/// (real/execute/collective_values.cpp, which is written independently of the rows on purpose).
namespace ringside {

enum class Collective {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  reduce,
  gather,
  all_to_all,
  send_recv  ///< Every rank sends its message to the next one.
};

/// Which part of a collective's vector a rank holds. Everybody's parts at the start are reduced.
enum class Held {
  everything,
  everything_at_root,  ///< The root alone holds something.
  own_part,            ///< Rank i holds part i.
  part_of_each,        ///< Rank i holds piece i of the part of each rank.
  previous_part        ///< Rank i holds part i − 1.
};

struct CollectiveRow {
  Collective collective = Collective::all_reduce;
  Held starts = Held::everything;
  Held ends = Held::everything;
  /// Bus bandwidth is S/t times so many (n−1)/n, as nccl-tests defines it; 0 = S/t itself. It is also the
  /// least share of S that passes the links of a rank.
  int bus_factor = 0;
  bool nccl_sends = false;  ///< NCCL's own is sends and receives from rank to rank, no ring or tree.
  // What logs call it where they have it.
  std::string_view nccl_tests = {};  ///< Only where it differs from the name.
  std::string_view osu = {};
  std::string_view imb = {};
};

inline constexpr auto kCollectives = std::to_array<CollectiveRow>({
    {.collective = Collective::all_reduce,
     .starts = Held::everything,
     .ends = Held::everything,
     .bus_factor = 2,
     .osu = "Allreduce",
     .imb = "Allreduce"},
    {.collective = Collective::reduce_scatter,
     .starts = Held::everything,
     .ends = Held::own_part,
     .bus_factor = 1,
     .osu = "Reduce_scatter",
     .imb = "Reduce_scatter"},
    {.collective = Collective::all_gather,
     .starts = Held::own_part,
     .ends = Held::everything,
     .bus_factor = 1,
     .osu = "Allgather",
     .imb = "Allgather"},
    {.collective = Collective::broadcast,
     .starts = Held::everything_at_root,
     .ends = Held::everything,
     .osu = "Broadcast",
     .imb = "Bcast"},
    {.collective = Collective::reduce,
     .starts = Held::everything,
     .ends = Held::everything_at_root,
     .osu = "Reduce",
     .imb = "Reduce"},
    {.collective = Collective::gather,
     .starts = Held::own_part,
     .ends = Held::everything_at_root,
     .bus_factor = 1,
     .nccl_sends = true,
     .osu = "Gather",
     .imb = "Gather"},
    {.collective = Collective::all_to_all,
     .starts = Held::own_part,
     .ends = Held::part_of_each,
     .bus_factor = 1,
     .nccl_sends = true,
     .nccl_tests = "alltoall",
     .osu = "All-to-All",
     .imb = "Alltoall"},
    {.collective = Collective::send_recv,
     .starts = Held::own_part,
     .ends = Held::previous_part,
     .nccl_sends = true,
     .nccl_tests = "sendrecv"},
});

/// Rows stand in the order of the enumerators.
constexpr const CollectiveRow& row_of(Collective collective) {
  return kCollectives.at(static_cast<std::size_t>(collective));
}

/// Whether contributions of all ranks are reduced into one result.
constexpr bool reduces(Collective collective) { return row_of(collective).starts == Held::everything; }

constexpr bool has_root(Collective collective) {
  const CollectiveRow& row = row_of(collective);
  return row.starts == Held::everything_at_root || row.ends == Held::everything_at_root;
}

/// Whether each part of the vector belongs to one rank: chunks are then a multiple of ranks.
constexpr bool scattered(Collective collective) {
  const CollectiveRow& row = row_of(collective);
  return row.starts == Held::own_part || row.ends == Held::own_part;
}

/// Messages in a schedule's buffer, at every rank. The message of all_to_all and send_recv is what one rank
/// sends (and gets), as in nccl-tests; the buffer holds those of all ranks in order, so that what rank i
/// sends to rank j has one place everywhere; of the others the message is the buffer.
constexpr int messages_in_buffer(Collective collective, int num_ranks) {
  const Held ends = row_of(collective).ends;
  return ends == Held::part_of_each || ends == Held::previous_part ? num_ranks : 1;
}

/// Bus bandwidth over S/t on `n` ranks, and the least share of S that passes the links of one of them.
constexpr double bus_share(Collective collective, double n) {
  const int factor = row_of(collective).bus_factor;
  return factor == 0 ? 1 : factor * (n - 1) / n;
}

}  // namespace ringside
