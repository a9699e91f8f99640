#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "real/backend/shm/group.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/execute/transport.hpp"
#include "results/point.hpp"

/// What the backend is made of, apart from its group.
namespace ringside {

/// Messages through shared memory. Short ones are copied into the sender's channel and have left; longer ones
/// are read in place once both sides have come: a rank moves what it receives while it waits.
std::unique_ptr<Transport> make_shm_transport(std::shared_ptr<ShmGroup> group, Progress* progress);

/// Why this backend has no collective of its own for this point; nothing where it has.
std::optional<std::string> shm_native_unsupported(const PointKey& key);

/// Native all_reduce, in place on `message`. Short messages are put where all can read them, and every rank
/// reduces all. Of longer ones every rank reduces its part from all ranks' memory and writes the result
/// straight into it: n reads and n writes of each element in all, which is the least that memory has to move.
/// Sums are made in one order for all ranks, so that all have the same bits.
NativeCall make_shm_native(const std::shared_ptr<ShmGroup>& group, const CollectiveCall& call,
                           std::span<std::byte> message, Progress* progress);

}  // namespace ringside
