#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "common/names.hpp"
#include "real/backend/rank_place.hpp"

namespace ringside {

/// How ranks are started, and by what they talk.
struct LaunchOptions {
  Backend backend = Backend::gloo;
  GpuOptions gpu = {};
  std::chrono::milliseconds timeout{60'000};  ///< For every single wait.
  /// Command put in front of each rank, split into words as a shell would (quotes, backslash). `{rank}`
  /// becomes the rank; `{host}` becomes `host<rank>`.
  std::optional<std::string> wrap = {};
  std::optional<std::string> interface = {};  ///< Network interface to bind; none = loopback.
  /// file:///path, redis://host:port or env://; none = a private temporary directory.
  std::optional<std::string> rendezvous = {};
  /// Whether ranks on CPUs may be bound to cores, keep these from idle states, and be scheduled otherwise
  /// than usual (results/measurement.hpp, MachineTuning). Without it nothing of the machine is changed, and
  /// long messages are sent whole: segments are made for ranks whose cores are known.
  bool tune_machine = true;
  /// What a reader should know of the machines that another launcher has chosen; called at rank 0, once.
  std::function<void(const std::string& sentence)> remark = {};
  /// What to start as `<program> rank …`; none = this program.
  std::optional<std::filesystem::path> program = {};
};

}  // namespace ringside
