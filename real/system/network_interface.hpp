#pragma once

#include <string>
#include <vector>

namespace ringside {

/// Names of this machine's network interfaces that have an address.
std::vector<std::string> network_interfaces();

/// Throws Error{environment} that lists the interfaces there are when `interface` is none of them.
void require_network_interface(const std::string& interface);

}  // namespace ringside
