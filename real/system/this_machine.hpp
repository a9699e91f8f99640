#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/units.hpp"

namespace ringside {

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

}  // namespace ringside
