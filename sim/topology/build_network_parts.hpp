#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/topology/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"
#include "sim/topology/network.hpp"
#include "sim/topology/node.hpp"

/// The parts of build_network, for its own files.
namespace ringside {

struct BuildRequest {
  const Machine& machine;
  int num_ranks = 1;
  SpecNumbers numbers = SpecNumbers::typical;
  std::optional<GpuModel> gpu = {};  ///< What the data sheet says of machine.gpu, if the machine names one.
};

/// `file`, or `machine 'name'` for a machine built in code.
std::string subject(const Machine& machine);
/// Throws Error{bad_input}: `file: key: what`.
[[noreturn]] void fail(const Machine& machine, std::string_view key, std::string_view what);
template <typename Part, typename... Parts>
[[noreturn]] void fail(const Machine& machine, std::string_view key, fmt::format_string<Part, Parts...> what,
                       Part&& part, Parts&&... parts) {
  fail(machine, key, fmt::format(what, std::forward<Part>(part), std::forward<Parts>(parts)...));
}

/// Throws where there is none, as a machine that was read from a log can say: `0 is not a number of NICs`.
void require_some(const Machine& machine, std::string_view key, int number, std::string_view of);

/// Throws `machine 'x' has 4 GPUs, 8 ranks were asked for`.
[[noreturn]] void fail_for_too_few_gpus(const Machine& machine, std::int64_t num_gpus, int num_ranks);

/// Runs `read`; an Error that it throws gets the file and the key in front.
template <typename Read>
auto located(const Machine& machine, std::string_view key, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    fail(machine, key, error.what());
  }
}

struct PlannedNode {
  NodePlan plan;
  bool from_specification = false;  ///< Some number is a data sheet's, not the user's.
  /// Set when every pair of GPUs has a private link of these numbers.
  std::optional<LinkNumbers> private_pairs = {};
  bool single_port = false;       ///< As in Network::Uniform.
  bool needs_ring_order = false;  ///< GPUs in order of their numbers are not the best ring.
};

/// One node of `num_gpus` GPUs as machine.intra and, when there are several nodes, machine.inter describe it.
PlannedNode plan_node(const BuildRequest& request, int num_gpus, bool several_nodes);

/// The uplinks of machine.inter's levels; `all_nics` is what the NICs of a node carry each way.
std::vector<GroupLinks> plan_groups(const Machine& machine, BytesPerSecond all_nics);

/// The network that machine.links lists. Ring order, γ and stragglers are left to the caller.
Network build_listed_network(const BuildRequest& request);

}  // namespace ringside
