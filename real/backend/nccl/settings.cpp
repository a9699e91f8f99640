#include "real/backend/nccl/settings.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "real/backend/backends.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libnccl.so.2";

/// The wheels under <prefix>/lib/python3.*/{site,dist}-packages.
void add_wheels(const fs::path& prefix, std::vector<std::string>& candidates) {
  std::error_code ignored;
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix / "lib", ignored)) {
    if (!entry.path().filename().string().starts_with("python3")) {
      continue;
    }
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const fs::path library = entry.path() / packages / "nvidia" / "nccl" / "lib" / kLibrary;
      if (fs::exists(library, ignored)) {
        found.push_back(library.string());
      }
    }
  }
  std::ranges::sort(found);
  candidates.insert(candidates.end(), found.begin(), found.end());
}

/// What NCCL has of its own, in native.cpp.
struct NcclRow {
  Collective collective;
  bool equal_parts = false;
};
constexpr auto kNcclRows = std::to_array<NcclRow>({{Collective::all_reduce},
                                                   {Collective::broadcast},
                                                   {Collective::reduce},
                                                   {Collective::all_gather, true},
                                                   {Collective::reduce_scatter, true},
                                                   {Collective::all_to_all, true},
                                                   {Collective::send_recv}});

}  // namespace

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::map<std::string, std::string> settings_of_shared_gpu(int nccl_version, Rank rank) {
  if (nccl_version >= kNcclWithRanksOnOneGpu) {
    return {{"NCCL_MULTI_RANK_GPU_ENABLE", "1"}};
  }
  return {{"NCCL_HOSTID", fmt::format("ringside-rank-{}", rank)},
          {"NCCL_NET", "Socket"},
          {"NCCL_SOCKET_IFNAME", "lo"},
          {"NCCL_MNNVL_ENABLE", "0"}};
}

int gpu_of(int local_rank, int ranks_per_gpu) { return local_rank / ranks_per_gpu; }

int gpus_needed(int num_ranks, int ranks_per_gpu) { return (num_ranks + ranks_per_gpu - 1) / ranks_per_gpu; }

std::map<std::string, std::string> nccl_environment(const char* const* environment) {
  std::map<std::string, std::string> settings;
  for (const char* const* entry = environment; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (text.starts_with("NCCL_") && equals != std::string_view::npos) {
      settings.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return settings;
}

std::vector<std::string> nccl_library_candidates(const Lookup& lookup) {
  if (const std::optional<std::string> asked = lookup("RINGSIDE_NCCL_LIBRARY"); asked && !asked->empty()) {
    return {*asked};
  }
  std::vector<std::string> candidates = {kLibrary};
  for (const char* variable : {"NCCL_HOME", "CUDA_HOME", "CUDA_PATH"}) {
    if (const std::optional<std::string> home = lookup(variable); home && !home->empty()) {
      candidates.push_back((fs::path(*home) / "lib64" / kLibrary).string());
      candidates.push_back((fs::path(*home) / "lib" / kLibrary).string());
    }
  }
  candidates.push_back((fs::path("/usr/local/cuda/lib64") / kLibrary).string());
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::optional<std::string> prefix = lookup(variable); prefix && !prefix->empty()) {
      add_wheels(*prefix, candidates);
    }
  }
  std::error_code ignored;
  std::istringstream path(lookup("PATH").value_or(""));
  for (std::string folder; std::getline(path, folder, ':');) {
    if (!folder.empty() && fs::exists(fs::path(folder) / "python3", ignored)) {
      add_wheels(fs::path(folder).parent_path(), candidates);
    }
  }
  if (const std::optional<std::string> home = lookup("HOME"); home && !home->empty()) {
    add_wheels(fs::path(*home) / ".local", candidates);
  }
  std::vector<std::string> unique;
  for (std::string& candidate : candidates) {
    if (std::ranges::find(unique, candidate) == unique.end()) {
      unique.push_back(std::move(candidate));
    }
  }
  return unique;
}

std::optional<std::string> nccl_native_unsupported(const PointKey& key) {
  const auto* const row = std::ranges::find(kNcclRows, key.collective, &NcclRow::collective);
  if (row == kNcclRows.end()) {
    return fmt::format("NCCL has a {} of its own only from version 2.28 on; use an algorithm of ringside",
                       name(key.collective));
  }
  return row->equal_parts ? unequal_parts("NCCL", key) : std::nullopt;
}

}  // namespace ringside
