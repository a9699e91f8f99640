#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ringside/communicator.hpp"
#include "scenario/machine/machine.hpp"

/// From "what does it take here" to "what would it take there": predictions of the tutorial's collectives.
namespace examples {

/// This machine as ranks meet it: latency and bandwidth from messages of ranks 0 and 1 and neighbour
/// exchanges of all, the cost of adding from a local loop. Takes about a second; all ranks call it and get
/// the same. Nothing for one rank, and where the machine is too busy to show a cost per byte.
std::optional<ringside::Machine> probe(ringside::Communicator& communicator, ringside::Bytes max_bytes);

/// Private links between all ranks, as if each had its own cable to each other one.
ringside::Machine private_links(ringside::Seconds latency, ringside::BytesPerSecond bandwidth);

/// What all_reduce (float32, sum) is predicted to take, in seconds. Throws Error where it cannot.
double predicted_all_reduce(const ringside::Machine& machine, const std::string& algorithm, int ranks,
                            ringside::Bytes bytes);

/// What a machine would take for an all_reduce.
struct Estimate {
  std::string machine;
  int ranks = 0;
  std::optional<ringside::Seconds> seconds = {};
  std::string reason = {};  ///< Why there is no time.
};

/// Predictions for all machine files in a folder, the fastest first. A machine that does not say how many
/// GPUs it has gets `ranks`. Throws Error{bad_input} when the folder holds none.
std::vector<Estimate> estimates(const std::filesystem::path& folder, const std::string& algorithm,
                                ringside::Bytes bytes, int ranks);

}  // namespace examples
