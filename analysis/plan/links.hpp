#pragma once

#include <optional>
#include <string>

#include "common/units.hpp"
#include "scenario/machine/machine.hpp"

/// What the links of an offer are called and bring, for people.
namespace ringside {

/// The rate of the link of one GPU (of one node where there are several), one direction, as it is achieved:
/// what thresholds are stated in. None where a machine does not say it in one number.
std::optional<BytesPerSecond> link_bandwidth(const Machine& machine);

/// `PCIe 4.0 x16`, `NVLink 3`, …: what that link is.
std::string link_name(const Machine& machine);

/// Both: `NVLink 3 at 240 GB/s`, with ` per GPU` where that is to be said.
std::string link_words(const Machine& machine, bool per_gpu = false);

}  // namespace ringside
