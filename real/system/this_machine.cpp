#include "real/system/this_machine.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

/// The text after `key`, blanks and a colon, in a file of such lines.
std::optional<std::string> line_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      const std::size_t value = line.find_first_not_of(" \t:", key.size());
      return value == std::string::npos ? std::string() : line.substr(value);
    }
  }
  return std::nullopt;
}

std::optional<Bytes> kilobytes_of_meminfo(std::string_view key) {
  const std::optional<std::string> text = line_value("/proc/meminfo", key);
  std::int64_t kilobytes = 0;
  if (!text || !(std::istringstream(*text) >> kilobytes)) {
    return std::nullopt;
  }
  return Bytes{kilobytes * 1024};
}

/// A limit of this container (cgroup version 2); nothing when there is none.
std::optional<std::int64_t> container_number(const char* name) {
  return value_in<std::int64_t>(fmt::format("/sys/fs/cgroup/{}", name));
}

/// As many of `cores` as this container may use.
int usable(int cores) {
  // "quota period", in microseconds; "max" when there is no quota.
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && period > 0) {
    cores = std::min(cores, std::max(1, static_cast<int>(quota / period)));
  }
  return cores;
}

/// -1 where the system does not tell.
int socket_of_core(std::size_t core, const std::filesystem::path& cpus) {
  return value_in<int>(cpus / fmt::format("cpu{}", core) / "topology" / "physical_package_id").value_or(-1);
}

}  // namespace

ThisMachine this_machine() {
  ThisMachine machine;
  utsname system{};
  if (::uname(&system) == 0) {
    machine.host = system.nodename;
    machine.kernel = fmt::format("{} {}", system.sysname, system.release);
  }
  machine.cpu = line_value("/proc/cpuinfo", "model name").value_or("");
  machine.cores = usable(std::max(1, static_cast<int>(allowed_cores().size())));
  machine.all_cores = usable(std::max(machine.cores, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))));
  machine.memory = kilobytes_of_meminfo("MemTotal").value_or(Bytes{});
  if (const std::optional<std::int64_t> limit = container_number("memory.max")) {
    machine.memory = std::min(machine.memory, Bytes{*limit});
  }
  machine.compiler = fmt::format("GCC {}", __VERSION__);
  return machine;
}

std::optional<double> identity_on_this_machine(std::string_view place) {
  const auto boot = value_in<std::string>("/proc/sys/kernel/random/boot_id");
  if (!boot) {
    return std::nullopt;
  }
  // So many bits are exact in a double.
  return static_cast<double>(std::hash<std::string>{}(fmt::format("{} {}", *boot, place)) >> 11U);
}

std::string tcp_congestion_control() {
  return value_in<std::string>("/proc/sys/net/ipv4/tcp_congestion_control").value_or("");
}

Bytes available_memory() {
  std::optional<Bytes> available = kilobytes_of_meminfo("MemAvailable");
  if (!available) {
    throw lacking("/proc/meminfo does not tell how much memory is available");
  }
  const std::optional<std::int64_t> limit = container_number("memory.max");
  const std::optional<std::int64_t> used = container_number("memory.current");
  if (limit && used) {
    available = std::min(*available, Bytes{std::max<std::int64_t>(*limit - *used, 0)});
  }
  return *available;
}

std::vector<std::size_t> allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<std::size_t> cores;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &allowed)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

int num_sockets(const std::filesystem::path& cpus) {
  std::set<int> sockets;
  std::error_code error;
  for (std::size_t core = 0; std::filesystem::exists(cpus / fmt::format("cpu{}", core), error); ++core) {
    sockets.insert(socket_of_core(core, cpus));
  }
  sockets.erase(-1);
  return static_cast<int>(sockets.size());
}

std::optional<int> socket_of(std::span<const std::size_t> cores, const std::filesystem::path& cpus) {
  std::set<int> sockets;
  for (const std::size_t core : cores) {
    sockets.insert(socket_of_core(core, cpus));
  }
  return sockets.size() == 1 && *sockets.begin() >= 0 ? std::optional(*sockets.begin()) : std::nullopt;
}

std::vector<std::size_t> by_socket(std::span<const std::size_t> cores, const std::filesystem::path& cpus) {
  std::map<int, std::vector<std::size_t>> of_socket;
  for (const std::size_t core : cores) {
    of_socket[socket_of_core(core, cpus)].push_back(core);
  }
  std::vector<std::size_t> all;
  for (const auto& [socket, own] : of_socket) {
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::span<const std::size_t> part_of(std::span<const std::size_t> cores, int index, int num_parts) {
  const auto parts = static_cast<std::size_t>(num_parts);
  if (cores.size() < parts) {
    return {};
  }
  const std::size_t begin = static_cast<std::size_t>(index) * cores.size() / parts;
  const std::size_t end = (static_cast<std::size_t>(index) + 1) * cores.size() / parts;
  return cores.subspan(begin, end - begin);
}

std::vector<std::size_t> keep_to_own_cores(int index, int num_parts) {
  constexpr std::size_t kBusyThreads = 2;
  const std::vector<std::size_t> cores = by_socket(allowed_cores());
  if (this_machine().cores < static_cast<int>(cores.size())) {
    return {};
  }
  const std::span<const std::size_t> part = part_of(cores, index, num_parts);
  const std::span<const std::size_t> own = part.first(std::min(part.size(), kBusyThreads));
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t core : own) {
    CPU_SET(core, &set);
  }
  if (own.empty() || ::sched_setaffinity(0, sizeof(set), &set) != 0) {
    return {};
  }
  return {own.begin(), own.end()};
}

}  // namespace ringside
