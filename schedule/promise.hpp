#pragma once

#include <cstdint>

#include "results/point_key.hpp"
#include "schedule/schedule.hpp"

/// What each collective starts from and what it promises, chunk by chunk. The proof, the executor and the checks
/// of its results all ask here.
namespace ringside {

/// Whether the data of gather, all_gather, reduce_scatter, all_to_all and send_recv is spread over the ranks: each chunk then
/// belongs to one rank, and the number of chunks is a multiple of the number of ranks.
bool scattered(Collective collective);

/// How many messages the buffer holds that a schedule works in, at every rank. Of all_to_all and send_recv the message is what one
/// rank sends (and gets), as nccl-tests counts it, and the buffer holds those of all ranks, one after another, so that what rank i
/// sends to rank j has one place everywhere; of the others the message is the buffer.
int messages_in_buffer(Collective collective, int num_ranks);
Bytes buffer_of_message(Collective collective, int num_ranks, Bytes message);
Bytes buffer_of(const PointKey& key);

/// Whether contributions of all ranks are reduced into one result.
bool reduces(Collective collective);

/// The rank to which `chunk` belongs in a scattered collective.
Rank owner_of_chunk(const Schedule& schedule, std::int32_t chunk);

/// Whether `rank` holds data of its own in `chunk` at the start. Everything else in its message is undefined.
bool holds_at_start(const Schedule& schedule, Rank rank, std::int32_t chunk);

/// Whether `rank` must hold the result of `chunk` at the end: the reduction of every rank's chunk where the
/// collective reduces, otherwise the chunk of the rank that held it at the start.
bool promised_at_end(const Schedule& schedule, Rank rank, std::int32_t chunk);

}  // namespace ringside
