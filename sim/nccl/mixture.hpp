#pragma once

#include <string>
#include <vector>

#include "common/names.hpp"
#include "sim/nccl/parameters.hpp"
#include "sim/nccl/system.hpp"

/// Hosts of one description that bytes cross by different paths: a prediction over PCIe is a mixture of them.
namespace ringside {

/// One kind of host.
struct HostKind {
  std::string one = {};   ///< What it does: `goes through slow host memory`
  std::string many = {};  ///< What they do: `go through slow host memory`
  double share = 0;       ///< How many of the hosts of this description are such, 0 to 1.
  double ratio = 1;  ///< Its times of messages so long that nothing but bytes counts, of what is predicted.
};

/// The kinds of hosts that the description leaves open, likeliest first; one where it leaves none.
std::vector<HostKind> host_kinds(const NcclSystem& system, const NcclParameters& parameters,
                                 Collective collective);

/// `most likely (50 %) it copies from GPU to GPU …; 29 % of such hosts …`. Empty for one kind.
std::string mixture_sentence(const std::vector<HostKind>& kinds);

/// What a machine is that takes `ratio` of what is predicted where nothing is known of it, in long messages.
std::string known_kind_sentence(const std::vector<HostKind>& kinds, double ratio);

}  // namespace ringside
