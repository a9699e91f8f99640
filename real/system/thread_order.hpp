#pragma once

namespace ringside {

/// Puts all threads of this process under batch scheduling (SCHED_BATCH): one that wakes waits for the core
/// instead of interrupting whoever is at work there. Returns whether the system agreed.
bool use_batch_scheduling();

/// Lets the calling thread go before all other threads of this process: it gets the core soon after it wakes
/// (and runs for 0.1 ms at a stretch; Linux before 6.12 knows no such wish), and they stand behind it (nice +
/// 5). Where the system refuses, or the process was started with another policy than the usual one, all stays
/// as it is. Returns whether anything was changed.
bool put_this_thread_first();

}  // namespace ringside
