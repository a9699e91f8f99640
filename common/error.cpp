#include "common/error.hpp"

#include <fmt/format.h>

namespace ringside {

int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return 2;
    case ErrorKind::environment:
      return 3;
    case ErrorKind::peer_lost:
    case ErrorKind::failed:
      return 1;
  }
  return kExitBug;
}

void throw_bug(const char* condition, const char* file, int line, const std::string& message) {
  throw Bug(fmt::format("{}:{}: {} (expected {})", file, line, message, condition));
}

}  // namespace ringside
