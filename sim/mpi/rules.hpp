#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "schedule/schedule.hpp"

/// Which algorithm MPI libraries choose for their own collectives, by the tables of configs/mpi/rules.txt.
namespace ringside {

/// A call as the rules see it.
struct MpiCall {
  Collective collective = Collective::all_reduce;
  int ranks = 2;
  int ranks_per_node = 2;
  Bytes bytes = {};  ///< The message: in all_gather, what all ranks give together.
  DataType dtype = DataType::float32;
};

/// By the name of our algorithm that does the same; otherwise by a name that none of ours has. Throws
/// Error{bad_input} where the rules of the library, or those of this collective, are not known here.
/// `library`: its name and version, such as "Open MPI 4.1.4" or "MPICH 4.0.2"; " with …" says what takes its
/// own rules out of force.
std::string mpi_choice(const std::string& library, const MpiCall& call);

/// The one of ours. Throws likewise, also where the library is not said or none of ours does the same.
const Algorithm& mpi_native(const std::optional<std::string>& library, const MpiCall& call);

/// Our algorithms that a file of rules of this library can ask for, by their number there. Throws
/// Error{bad_input} for a library that reads no such file, or that is not known here.
std::map<std::string, int> mpi_numbers(const std::string& library, Collective collective);

/// What is chosen from `from` bytes on.
struct MpiSwitch {
  Bytes from;
  std::string algorithm;
};

/// All switches of messages from 4 B to 1 GiB. Throws as mpi_choice() does.
std::vector<MpiSwitch> mpi_switches(const std::string& library, MpiCall call);

}  // namespace ringside
