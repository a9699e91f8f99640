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

/// Who takes part in a part of a collective.
enum class MpiGroup {
  all,
  node,     ///< The ranks of each node.
  leaders,  ///< One rank of each node.
};

/// A schedule of ours that takes the time of a part.
struct MpiPart {
  MpiGroup group = MpiGroup::all;
  int ranks = 1;
  const Algorithm* algorithm = nullptr;
  int segments = 0;  ///< As in ScheduleRequest.
  Bytes bytes = {};
};

/// What the library does, as schedules of ours one after another.
struct MpiPlan {
  std::string choice;  ///< As mpi_choice() names it.
  std::vector<MpiPart> parts;
  /// The parts are those of one segment. The next one begins when this one is in its next part.
  Bytes segment;
};

/// Throws as mpi_choice() does, also where the library is not said.
MpiPlan mpi_plan(const std::optional<std::string>& library, const MpiCall& call);

/// Where a plan is not the one algorithm of ours that `choice` names, which schedules stand for it, such as
/// `reduce binomial_tree in nodes, …`. Empty where it is.
std::string predicted_as(const MpiPlan& plan);

/// Our algorithms that a file of rules of this library can ask for, by their number there. Throws
/// Error{bad_input} for a library that reads no such file, or that is not known here.
std::map<std::string, int> mpi_numbers(const std::string& library, Collective collective);

/// What is chosen from `from` bytes on.
struct MpiSwitch {
  Bytes from;
  std::string algorithm;
  std::string predicted_as;
};

/// All switches of messages from 4 B to 1 GiB. Throws as mpi_choice() does.
std::vector<MpiSwitch> mpi_switches(const std::string& library, MpiCall call);

}  // namespace ringside
