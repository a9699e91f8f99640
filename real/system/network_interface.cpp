#include "real/system/network_interface.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <sys/socket.h>

#include "common/error.hpp"

namespace ringside {

std::vector<std::string> network_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, ::freeifaddrs);
  std::vector<std::string> names;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    const bool internet = entry->ifa_addr != nullptr &&
                          (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6);
    if (internet && std::find(names.begin(), names.end(), entry->ifa_name) == names.end()) {
      names.emplace_back(entry->ifa_name);
    }
  }
  return names;
}

void require_network_interface(const std::string& interface) {
  const std::vector<std::string> known = network_interfaces();
  if (std::find(known.begin(), known.end(), interface) == known.end()) {
    throw Error(ErrorKind::environment,
                fmt::format("this machine has no network interface '{}' with an address; it has: {}",
                            interface, fmt::join(known, ", ")));
  }
}

}  // namespace ringside
