#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "real/execute/coordination.hpp"

/// What ranks on several machines look at before anything is measured.
namespace ringside {

/// Refuses ranks that do not all say the same of what they run. Throws Error{environment}.
void require_same(std::span<const std::string> versions);

/// How little of this machine's interfaces is used: "eth0 of 2 interfaces, 10 of 110 Gb/s". Empty where it is
/// more than half of what is up, or the system does not tell. `net` is the kernel's list, elsewhere in tests.
std::string idle_interfaces(const std::string& used, const std::filesystem::path& net = "/sys/class/net");

/// A sentence for each machine whose clock is off from rank 0's by more than a second.
std::vector<std::string> clock_remarks(std::span<const std::string> hosts, std::span<const double> seconds);

/// Where ranks are dealt out over the sockets of their node: how often neighbours in a ring are on different
/// ones, and how often they need to be. Empty otherwise, and where `sockets` is.
std::string socket_remark(std::span<const std::string> hosts, std::span<const int> sockets);

/// Called by all ranks at once. Sentences for a person, the same at every rank; none where all is well.
/// Throws as require_same() does.
std::vector<std::string> preflight(Coordination& coordination, Backend backend,
                                   std::span<const std::string> hosts, std::span<const int> sockets,
                                   const std::optional<std::string>& interface);

}  // namespace ringside
