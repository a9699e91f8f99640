#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "results/point.hpp"

/// What is decided about NCCL before it is there: its environment, and where its library may be. Pure; knows
/// nothing of CUDA or NCCL.
namespace ringside {

/// The oldest NCCL that is used, as ncclGetVersion() writes it: major · 10000 + minor · 100 + patch.
inline constexpr int kOldestNccl = 21800;
/// From here on NCCL runs several ranks on one GPU when it is asked to.
inline constexpr int kNcclWithRanksOnOneGpu = 23000;

/// "2.28.9" of 22809.
std::string nccl_version_text(int version);

/// Environment variables that let NCCL run several ranks on one GPU. From NCCL 2.30 on it is asked to;
/// before, every rank says that it is on a host of its own, and they talk over sockets of the loopback
/// interface. Source: NCCL user guide, "Environment variables".
std::map<std::string, std::string> settings_of_shared_gpu(int nccl_version, Rank rank);

/// The GPU of a rank, by its number among the ranks of its machine: ranks fill one GPU after another.
int gpu_of(int local_rank, int ranks_per_gpu);
int gpus_needed(int num_ranks, int ranks_per_gpu);

/// Environment variables NCCL_… of this process, by name.
std::map<std::string, std::string> nccl_environment(const char* const* environment);

/// Looks up an environment variable.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

/// What to hand to dlopen(), in order: what RINGSIDE_NCCL_LIBRARY says and nothing else; otherwise the
/// loader's own search, the CUDA Toolkit, and the nvidia-nccl wheel of every Python that `lookup` leads to
/// (PATH, VIRTUAL_ENV, CONDA_PREFIX, HOME).
std::vector<std::string> nccl_library_candidates(const Lookup& lookup);

/// Why NCCL has no collective of its own for this point.
std::optional<std::string> nccl_native_unsupported(const PointKey& key);

}  // namespace ringside
