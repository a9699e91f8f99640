#pragma once

#include <cstddef>
#include <functional>
#include <span>

// Both would otherwise bring their C++ bindings, which MPI has dropped.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "real/execute/collective_values.hpp"

namespace ringside {

/// Where a collective runs.
struct MpiPlace {
  MPI_Comm communicator;
  int rank = 0;
  std::span<std::byte> message;
};

/// See MpiLibrary::collective().
std::function<int()> mpi_collective(const CollectiveCall& call, const MpiPlace& place);

}  // namespace ringside
