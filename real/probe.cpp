#include "real/probe.hpp"

#include "common/error.hpp"

namespace ringside {

std::string_view name(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::ping_pong:
      return "ping_pong";
    case ProbeKind::stream:
      return "stream";
    case ProbeKind::both_ways:
      return "both_ways";
    case ProbeKind::shift:
      return "shift";
    case ProbeKind::reduction:
      return "reduction";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a probe kind has no name");
}

}  // namespace ringside
