#pragma once

#include <string>

#include "real/backend/rank_place.hpp"
#include "real/store/meeting_place.hpp"

/// How ranks that a launcher has started find each other, before they are connected.
namespace ringside {

/// Called by all ranks at once, `own` being this one's: a name that no earlier run has used, the same at all
/// of them. What a run that was killed has left is passed over. Throws Error{bad_input} when ranks differ in
/// how many they are or two are the same, and Error{peer_lost} when others do not come in time.
std::string agree_on_name(MeetingPlace& place, const RankPlace& own);

}  // namespace ringside
