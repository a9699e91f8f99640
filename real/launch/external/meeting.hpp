#pragma once

#include <chrono>
#include <string>

#include "common/units.hpp"
#include "real/store/meeting_place.hpp"

/// How ranks that a launcher has started find each other, before they are connected.
namespace ringside {

struct Meeting {
  Rank rank = 0;
  int num_ranks = 1;
  std::chrono::milliseconds timeout{60'000};
};

/// Called by all ranks at once: a name that no earlier run has used, the same at all of them. What a run that
/// was killed has left is passed over. Throws Error{bad_input} when ranks differ in how many they are or two
/// are the same, and Error{peer_lost} when others do not come in time.
std::string agree_on_name(MeetingPlace& place, const Meeting& meeting);

}  // namespace ringside
