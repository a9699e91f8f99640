#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "common/units.hpp"
#include "real/execute/collective_values.hpp"

/// MPI in types that no MPI library decides. libringside_mpi.so (module.cpp) implements it and is loaded when
/// it is needed: one program runs with and without an MPI library.
namespace ringside {

enum class MpiSide { send, receive };

/// Messages of a pair match in order among those of one tag.
enum class MpiTag { whole, piece, ready };

/// MPI of this process. Calls return MPI's error code, 0 = done.
class MpiLibrary {
 public:
  /// Room for an MPI_Request, whatever type that has.
  struct alignas(8) Request {
    std::array<std::byte, 8> room;
  };

  /// "Open MPI v4.1.4" or "MPICH 4.0.2 ch4:ucx". May be asked before init().
  virtual std::string version() = 0;
  virtual std::string text_of(int error) = 0;
  /// Whether it moves memory of GPUs, as it says itself; none where it has no such word. At any time.
  virtual std::optional<bool> cuda_aware() = 0;
  /// MPI_Init for one thread at a time, unless the program has called it. Waits for all ranks.
  virtual int init() = 0;
  /// Between MPI_Init and MPI_Finalize, where everything below may be called.
  virtual bool active() = 0;
  /// MPI_Finalize, which waits for all ranks; with another status than 0 it ends them.
  virtual void end(int status) = 0;

  virtual Rank rank() = 0;
  virtual int num_ranks() = 0;
  /// Starts a message of at most INT_MAX bytes; a send only reads.
  virtual int start(MpiSide side, Rank peer, MpiTag tag, std::span<std::byte> memory, Request& request) = 0;
  virtual int test(Request& request, bool& finished) = 0;
  /// Gives up a request that is under way.
  virtual void forget(Request& request) = 0;
  /// MPI's own collective in place on `message`, to be called any number of times; `avg` sums.
  virtual std::function<int()> collective(const CollectiveCall& call, std::span<std::byte> message) = 0;

 protected:
  ~MpiLibrary() = default;
};

/// The library of this process. Throws Error{environment} that says what to install.
MpiLibrary& mpi_library();
/// That reason; nothing where it can be loaded.
std::optional<std::string> mpi_missing();

}  // namespace ringside
