#include "real/system/other_load.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "real/system/this_machine.hpp"

namespace ringside {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double used_by(int who) {
  rusage usage = {};
  ::getrusage(who, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

}  // namespace

double throttled_seconds(const std::filesystem::path& groups, const std::filesystem::path& folder) {
  // Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "cpu.stat".
  std::ifstream list(groups);
  for (std::string line; std::getline(list, line);) {
    if (!line.starts_with("0::")) {
      continue;
    }
    std::ifstream statistics(folder.string() + line.substr(3) + "/cpu.stat");
    double value = 0;
    for (std::string key; statistics >> key >> value;) {
      if (key == "throttled_usec") {
        return 1e-6 * value;
      }
    }
  }
  return 0;
}

CoreSeconds core_seconds(std::istream& statistics, std::span<const std::size_t> cores,
                         double ticks_per_second) {
  CoreSeconds seconds;
  // Source: proc(5), /proc/stat.
  for (std::string line; std::getline(statistics, line);) {
    std::istringstream fields(line);
    std::string name;
    double user = 0;
    double nice = 0;
    double system = 0;
    double idle = 0;
    double waiting = 0;
    double interrupts = 0;
    double soft_interrupts = 0;
    double stolen = 0;
    fields >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
    if (fields &&
        std::ranges::any_of(cores, [&](std::size_t core) { return name == fmt::format("cpu{}", core); })) {
      seconds.busy += (user + nice + system) / ticks_per_second;
      seconds.stolen += stolen / ticks_per_second;
    }
  }
  return seconds;
}

OtherLoad::Counters OtherLoad::read(std::span<const std::size_t> cores) {
  std::ifstream statistics("/proc/stat");
  const CoreSeconds seconds = core_seconds(statistics, cores, static_cast<double>(::sysconf(_SC_CLK_TCK)));
  return {.busy = seconds.busy,
          .stolen = seconds.stolen,
          .own = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN),
          .throttled = throttled_seconds("/proc/self/cgroup", "/sys/fs/cgroup")};
}

OtherLoad::OtherLoad(std::span<const std::size_t> cores)
    : cores_(cores.begin(), cores.end()), begin_(std::chrono::steady_clock::now()), before_(read(cores_)) {}

OtherLoad::OtherLoad() : OtherLoad(allowed_cores()) {}

OtherLoad OtherLoad::over(std::chrono::milliseconds time) {
  OtherLoad load;
  std::this_thread::sleep_for(time);
  return load;
}

std::chrono::duration<double> OtherLoad::elapsed() const { return std::chrono::steady_clock::now() - begin_; }

double OtherLoad::rate(double Counters::*counter) const {
  return std::max(0.0, read(cores_).*counter - before_.*counter) / std::max(elapsed().count(), 1e-9);
}

double OtherLoad::cores_used() const { return std::max(0.0, rate(&Counters::busy) - rate(&Counters::own)); }

double OtherLoad::cores_stolen() const { return rate(&Counters::stolen); }

double OtherLoad::cores_throttled() const { return rate(&Counters::throttled); }

}  // namespace ringside
