#pragma once

#include <string>

#include "common/units.hpp"

namespace ringside {

/// What a reader of a measurement must know of where it was made. Texts are empty where the system does not tell.
struct ThisMachine {
  std::string host;
  std::string cpu;       ///< "AMD EPYC 9654 96-Core Processor"
  int cores = 1;         ///< That this process may use.
  Bytes memory;          ///< Of the machine or of this container, whichever is less.
  std::string kernel;    ///< "Linux 6.1.0"
  std::string compiler;  ///< Of this build.
  std::string gloo;      ///< Version; empty when this build has no Gloo.
};

ThisMachine this_machine();

/// Memory that this process may still take without anything being swapped or killed. Throws Error{environment} when
/// the system does not tell.
Bytes available_memory();

}  // namespace ringside
