#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

/// What each collective starts from and what it promises, chunk by chunk. The proof, the executor and the checks
/// of its results all ask here.
namespace ringside {

/// Whether the data of gather, all_gather and reduce_scatter is spread over the ranks: each chunk then belongs to
/// one rank, and the number of chunks is a multiple of the number of ranks.
bool scattered(Collective collective);

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
