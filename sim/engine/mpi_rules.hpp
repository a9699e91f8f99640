#pragma once

#include <optional>
#include <string>
#include <variant>
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

struct MpiChoice {
  std::string word;  ///< In the tables.
  std::string ours;  ///< Our algorithm that does the same; empty where there is none.
  std::string name;  ///< The library's algorithm, for people.
};

/// `library`: its name and version, such as "Open MPI 4.1.4" or "MPICH 4.0.2". A reason where its rules, or
/// those of this collective, are not known here.
std::variant<MpiChoice, std::string> mpi_choice(const std::string& library, const MpiCall& call);

/// As which algorithm of ours that is predicted, or why it is not.
std::variant<const Algorithm*, std::string> mpi_native(const std::optional<std::string>& library,
                                                       const MpiCall& call);

/// What is chosen from `from` bytes on.
struct MpiSwitch {
  Bytes from;
  MpiChoice choice;
};

/// All switches of messages from 4 B to 1 GiB.
std::variant<std::vector<MpiSwitch>, std::string> mpi_switches(const std::string& library, MpiCall call);

}  // namespace ringside
