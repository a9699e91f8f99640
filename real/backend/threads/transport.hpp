#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "real/execute/rank_backend.hpp"
#include "real/execute/transport.hpp"

namespace ringside {

/// Runs `body` once per rank, each in a thread of its own, over the transport of the shm backend. Joins all
/// threads, then rethrows what the first failing rank threw; the others lose their peer at once. For tests of
/// everything that needs ranks but no processes.
void run_as_threads(int num_ranks, std::chrono::milliseconds timeout,
                    const std::function<void(std::unique_ptr<Transport>)>& body);

/// What such a thread has of its backend.
RankBackend threads_rank(std::unique_ptr<Transport> transport);

}  // namespace ringside
