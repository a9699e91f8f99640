#pragma once

namespace ringside {

/// Lets all threads of this process wait for their turn when they wake, instead of interrupting those at work
/// (SCHED_BATCH). Where the system refuses, all stays as it is.
void let_threads_take_turns();

/// Lets the calling thread go before all other threads of this process: it gets the core soon after it wakes
/// (time slices of 0.1 ms; Linux before 6.12 knows no such wish), and they stand behind it (nice + 5). Where the system
/// refuses, or the process was started with another policy than the usual one, all stays as it is.
void put_this_thread_first();

}  // namespace ringside
