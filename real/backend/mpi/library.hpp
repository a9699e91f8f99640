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

/// MPI of this process. Calls return MPI's error code, 0 = done.
class MpiLibrary {
 public:
  /// Room for an MPI_Request, whatever type that has.
  struct alignas(8) Request {
    std::array<std::byte, 8> room;
  };

  /// "Open MPI v4.1.4" or "MPICH 4.0.2". May be asked before init().
  virtual std::string version() = 0;
  virtual std::string text_of(int error) = 0;

  /// MPI_Init for one thread at a time, unless the program has called it. Waits for all ranks.
  virtual int init() = 0;
  /// Between MPI_Init and MPI_Finalize, where everything below may be called.
  virtual bool active() = 0;
  /// Waits for all ranks.
  virtual int finalize() = 0;
  /// Ends all ranks with this exit status; does not return.
  virtual void end_all(int status) = 0;

  virtual Rank rank() = 0;
  virtual int num_ranks() = 0;
  /// `all` has room for as many characters from each rank as `own` has.
  virtual int all_gather(std::span<const char> own, std::span<char> all) = 0;

  // Messages of whole elements, of at most INT_MAX of them.
  virtual int start_send(Rank target, std::span<const std::byte> memory, Request& request) = 0;
  virtual int start_receive(Rank source, std::span<std::byte> memory, Request& request) = 0;
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

/// What the module exports as ringside_mpi_library.
using MpiModuleFunction = MpiLibrary*();

}  // namespace ringside
