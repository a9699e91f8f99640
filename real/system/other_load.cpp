#include "real/system/other_load.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace ringside {
namespace {

/// Seconds in which the cores have worked since the system started. Source: proc(5), /proc/stat.
double busy_seconds(std::span<const std::size_t> cores) {
  std::ifstream file("/proc/stat");
  double ticks = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    double user = 0;
    double nice = 0;
    double system = 0;
    const bool read = static_cast<bool>(fields >> name >> user >> nice >> system);
    if (read && std::any_of(cores.begin(), cores.end(),
                            [&](std::size_t core) { return name == fmt::format("cpu{}", core); })) {
      ticks += user + nice + system;
    }
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double own_seconds() {
  timespec used = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

OtherLoad::OtherLoad(std::span<const std::size_t> cores)
    : cores_(cores.begin(), cores.end()),
      begin_(std::chrono::steady_clock::now()),
      busy_before_(busy_seconds(cores)),
      own_before_(own_seconds()) {}

std::chrono::duration<double> OtherLoad::elapsed() const { return std::chrono::steady_clock::now() - begin_; }

double OtherLoad::cores_used() const {
  const double own = own_seconds() - own_before_;
  const double busy = busy_seconds(cores_) - busy_before_;
  return std::max(0.0, busy - own) / std::max(elapsed().count(), 1e-9);
}

}  // namespace ringside
