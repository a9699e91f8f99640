#pragma once

#include "schedule/schedule.hpp"

/// One function per algorithm: its row of the registry.
namespace ringside {

Algorithm naive_all_reduce();
Algorithm tutorial_ring_all_reduce();
Algorithm ring_all_reduce();

}  // namespace ringside
