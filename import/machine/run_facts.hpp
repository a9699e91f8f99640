#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// What a log of nccl-tests says beside its times: the list of ranks and NCCL's INFO lines.
namespace ringside {

/// Something counted in a log, and the first line that says it.
struct SeenInLog {
  int count = 0;
  std::size_t line = 0;  ///< 1-based; 0 = never.

  void see(std::size_t at) { line = count++ == 0 ? at : line; }
};

struct RunFacts {
  std::vector<std::string> gpus = {};  ///< One per line of the list of ranks, as the driver calls it.
  std::set<std::string> hosts = {};
  std::map<std::string, std::set<int>> ranks_of_host = {};
  std::set<std::string> processes = {};  ///< `host pid`
  std::optional<int> ranks = {};         ///< By NCCL (`nranks 16`) or the list.
  std::optional<int> nodes = {};         ///< By NCCL (`nNodes 2`).
  std::optional<std::string> nccl = {};
  /// `NCCL_ALGO` → `Ring`, with its line: INFO, an export of the launcher (`-x`), or before the command.
  struct Setting {
    std::string value = {};
    std::size_t line = 0;
  };
  std::map<std::string, Setting> settings = {};
  std::optional<std::string> network = {};  ///< `Using network Socket`
  std::size_t network_line = 0;
  std::set<std::string> nics = {};  ///< `mlx5_0:1/IB` of `NET/IB : Using`
  std::size_t nics_line = 0;
  /// Rates of the NICs in NCCL's own topology (`+ NET[25.0] - NET/0`), GB/s, by host and number.
  std::map<std::string, std::map<std::string, double>> nic_rates = {};
  // Channels by what carries them.
  SeenInLog peer_to_peer = {};   ///< `via P2P/…`
  SeenInLog shared_memory = {};  ///< `via SHM/…`
  SeenInLog gpudirect = {};      ///< `via NET/…/GDRDMA`
  SeenInLog without_gpudirect = {};
  SeenInLog sockets = {};  ///< `via NET/Socket`
  SeenInLog nvls = {};     ///< `NVLS multicast support is available`
  SeenInLog no_nvls = {};
  // How the run ended.
  std::map<std::size_t, std::string> failures = {};  ///< By line: why its results do not count.
  int runs = 0;                                      ///< Heads of nccl-tests (`nThread 1 nGpus 8`).
  int bounds_lines = 0;                              ///< `# Out of bounds values : 0 OK`
  int average_lines = 0;                             ///< `# Avg bus bandwidth : 231.2`

  /// Whether a run of nccl-tests printed neither of its last lines.
  bool incomplete() const { return std::max(bounds_lines, average_lines) < std::max(runs, 1); }
};

RunFacts read_run_facts(std::string_view text);

}  // namespace ringside
