#pragma once

#include <cstdint>
#include <span>

#include "schedule/schedule.hpp"

/// When a rank starts to receive before it comes to a round: the executor does so, and the simulation prices it.
namespace ringside {

/// Whether a rank that is in a round, whose moves are `during`, may start to receive what the moves `later` of a later
/// round bring it: whoever sends to it then does so in this round, too (messages of one direction arrive in order, so
/// nothing comes before its turn), and what is copied into place finds it untouched by this round. For a round further
/// ahead this must hold during every round before it. Only moves that carry bytes count; those in which the rank has no
/// part may stand among them.
bool may_receive_during(Rank rank, std::span<const Move> during, std::span<const Move> later);

/// What is to be reduced needs memory of its own: up to so many bytes for a round that is received ahead and all rounds
/// that are under way before it. The wait that is saved is a small part of longer messages.
inline constexpr std::int64_t kMostReceivedAhead = 64 << 20;

}  // namespace ringside
