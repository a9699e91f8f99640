#include "sim/engine/closed_form.hpp"

namespace ringside {

Seconds closed_form(const Schedule& schedule, Bytes size, const Network::Uniform& network) {
  const CriticalPath path = schedule.critical_path();
  return path.messages * network.latency + path.bytes * (network.inverse_bandwidth * size) +
         path.reduced_bytes * (network.reduction * size);
}

}  // namespace ringside
