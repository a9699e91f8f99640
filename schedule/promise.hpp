#pragma once

#include <cstdint>

#include "results/point_key.hpp"
#include "schedule/schedule.hpp"

/// What each collective starts from and what it promises, chunk by chunk, as its row says
/// (common/collective.hpp). Proofs and programs ask here; the check of results does not.
namespace ringside {

/// The bytes of what messages_in_buffer() counts.
Bytes buffer_of_message(Collective collective, int num_ranks, Bytes message);
Bytes buffer_of(const PointKey& key);

/// Whether `rank` holds data of its own in `chunk` at the start. Everything else in its message is undefined.
bool holds_at_start(const Schedule& schedule, Rank rank, std::int32_t chunk);

/// Whether `rank` must hold the result of `chunk` at the end: the reduction of every rank's chunk where the
/// collective reduces, otherwise the chunk of the rank that held it at the start.
bool promised_at_end(const Schedule& schedule, Rank rank, std::int32_t chunk);

}  // namespace ringside
