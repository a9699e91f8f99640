#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "common/units.hpp"

namespace ringside {

/// Where ranks of another launcher meet through files.
struct MeetingFolder {
  std::filesystem::path path;
  Rank rank = 0;
  int num_ranks = 1;
  std::chrono::milliseconds timeout{60'000};
};

/// Called by all ranks at once: a folder below `path` that no earlier run has used, the same at all of them.
/// What a run that was killed has left in `path` is passed over. Throws Error{environment} when the folder
/// cannot be written, and Error{peer_lost} when the others do not come in time.
std::filesystem::path agree_on_folder(const MeetingFolder& folder);

/// The folder of "file:///folder". Throws Error{bad_input} for relative ones and for `/`.
std::filesystem::path folder_of_rendezvous(const std::string& rendezvous);

}  // namespace ringside
