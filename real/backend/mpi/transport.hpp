#pragma once

#include <chrono>
#include <memory>

#include "real/backend/mpi/library.hpp"
#include "real/execute/progress.hpp"
#include "real/execute/transport.hpp"

namespace ringside {

/// Over MPI_Isend and MPI_Irecv. `library` is active and outlives the transport; `progress` may be null.
std::unique_ptr<Transport> make_mpi_transport(MpiLibrary& library, std::chrono::milliseconds timeout,
                                              Progress* progress);

}  // namespace ringside
