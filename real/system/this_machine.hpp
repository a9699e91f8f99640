#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.hpp"

namespace ringside {

/// Where Linux tells of each core.
inline constexpr const char* kCpus = "/sys/devices/system/cpu";

/// The machine of a measurement, for its readers. Texts are empty where the system does not tell.
struct ThisMachine {
  std::string host;
  std::string cpu;       ///< "AMD EPYC 9654 96-Core Processor"
  int cores = 1;         ///< That this process may use.
  int all_cores = 1;     ///< Also those that a launcher keeps from this process by binding it.
  Bytes memory;          ///< Memory of the machine or of this container, whichever is less.
  std::string kernel;    ///< "Linux 6.1.0"
  std::string compiler;  ///< Compiler of this build.
};

ThisMachine this_machine();

/// By which the kernel decides how fast TCP sends: "cubic". Empty where the system does not tell.
std::string tcp_congestion_control();

/// Equal for processes that name the same `place` on one running kernel. A whole number, not negative, that
/// survives as a double; none when the system does not tell its kernels apart.
std::optional<double> identity_on_this_machine(std::string_view place = {});

/// Memory that this process may still take without anything being swapped or killed. Throws
/// Error{environment} when the system does not tell.
Bytes available_memory();

/// On which the calling thread may run, ascending.
std::vector<std::size_t> allowed_cores();

/// Sockets of this machine; 0: the system does not tell. `cpus` is the kernel's list, elsewhere in tests.
int num_sockets(const std::filesystem::path& cpus = kCpus);

/// The socket on which all of these cores lie, as the kernel numbers it; none where there is no such.
std::optional<int> socket_of(std::span<const std::size_t> cores, const std::filesystem::path& cpus = kCpus);

/// Those of one socket next to each other, so that neighbours in a ring are on different ones as rarely as
/// can be: some machines number their cores across the sockets in turn.
std::vector<std::size_t> by_socket(std::span<const std::size_t> cores,
                                   const std::filesystem::path& cpus = kCpus);

/// The `index`-th of `num_parts` parts of `cores`, next to each other and as even as can be; empty when there
/// are fewer cores than parts.
std::span<const std::size_t> part_of(std::span<const std::size_t> cores, int index, int num_parts);

/// Binds the calling thread, and those it starts, to its part of the allowed cores, and returns them: one to
/// reduce and, if there is one, one to move messages. Returns none where there are fewer cores than parts
/// (containers may have less time than cores) or the system refuses. A rank that wanders between cores leaves
/// its caches behind, and the kernel likes to move the reader of
/// a local socket to the core of its writer, where each then waits for the other.
std::vector<std::size_t> keep_to_own_cores(int index, int num_parts);

}  // namespace ringside
