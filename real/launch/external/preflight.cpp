#include "real/launch/external/preflight.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

/// More than ranks are apart when they leave a barrier.
constexpr double kSameTime = 1;

/// In Mb/s; none for one without a cable.
double speed_of(const std::filesystem::path& interface) {
  return std::max(0.0, value_in<double>(interface / "speed").value_or(0));
}

}  // namespace

void require_same(std::span<const std::string> versions) {
  for (std::size_t rank = 1; rank < versions.size(); ++rank) {
    if (versions[rank] != versions[0]) {
      throw lacking("rank 0 is {}, and rank {} is {}; install the same on all nodes", versions[0], rank,
                    versions[rank]);
    }
  }
}

std::string idle_interfaces(const std::string& used, const std::filesystem::path& net) {
  int count = 0;
  double all = 0;
  std::error_code error;
  for (const auto& interface : std::filesystem::directory_iterator(net, error)) {
    // Bridges and the like have no device of their own.
    if (std::filesystem::exists(interface.path() / "device", error) &&
        value_in<std::string>(interface.path() / "operstate") == "up") {
      ++count;
      all += speed_of(interface);
    }
  }
  const double own = speed_of(net / used);
  return own > 0 && own * 2 <= all
             ? fmt::format("{} of {} interfaces, {} of {} Gb/s", used, count, own / 1e3, all / 1e3)
             : "";
}

std::vector<std::string> clock_remarks(std::span<const std::string> hosts, std::span<const double> seconds) {
  std::vector<std::string> remarks;
  std::set<std::string> seen = {hosts[0]};
  for (std::size_t rank = 1; rank < hosts.size(); ++rank) {
    const double ahead = seconds[rank] - seconds[0];
    if (seen.insert(hosts[rank]).second && std::abs(ahead) > kSameTime) {
      remarks.push_back(
          fmt::format("The clock of {} is {:.1f} s {} that of {}: so are the times in its logs.", hosts[rank],
                      std::abs(ahead), ahead > 0 ? "ahead of" : "behind", hosts[0]));
    }
  }
  return remarks;
}

std::string socket_remark(std::span<const std::string> hosts, std::span<const int> sockets) {
  int crossings = 0;
  std::set<std::pair<std::string, int>> seen;
  std::set<std::string> nodes;
  for (std::size_t rank = 0; rank < sockets.size(); ++rank) {
    seen.emplace(hosts[rank], sockets[rank]);
    nodes.insert(hosts[rank]);
    crossings += rank > 0 && hosts[rank] == hosts[rank - 1] && sockets[rank] != sockets[rank - 1] ? 1 : 0;
  }
  const int needed = static_cast<int>(seen.size() - nodes.size());
  return crossings > needed
             ? fmt::format(
                   "Neighbours in the ring are on different sockets {} times instead of {}: have "
                   "ranks fill one socket after another (mpirun --map-by core, srun -m block:block).",
                   crossings, needed)
             : "";
}

std::vector<std::string> preflight(Coordination& coordination, Backend backend,
                                   std::span<const std::string> hosts, std::span<const int> sockets,
                                   const std::optional<std::string>& interface) {
  auto* const library = registered(backend).library_version;
  require_same(coordination.texts(
      fmt::format("ringside {} ({}{})", RINGSIDE_VERSION, name(backend), library ? ' ' + library() : "")));
  std::vector<std::string> remarks;
  if (const std::string turns = socket_remark(hosts, sockets); !turns.empty()) {
    remarks.push_back(turns);
  }
  if (std::ranges::all_of(hosts, [&](const std::string& host) { return host == hosts[0]; })) {
    return remarks;
  }
  coordination.barrier();
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const std::vector<std::string> clocks = clock_remarks(hosts, coordination.all_values(now.count()));
  remarks.insert(remarks.end(), clocks.begin(), clocks.end());
  const std::vector<std::string> idle = coordination.texts(interface ? idle_interfaces(*interface) : "");
  std::set<std::string> seen;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (seen.insert(hosts[rank]).second && !idle[rank].empty()) {
      remarks.push_back(fmt::format("Ranks of {} use {}.", hosts[rank], idle[rank]));
    }
  }
  return remarks;
}

}  // namespace ringside
