#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/spellings.hpp"
#include "results/codec/fields.hpp"

namespace ringside {

/// What a link is in the machine. Links of one kind differ in their place only.
enum class LinkKind : std::uint8_t {
  gpu_to_gpu,        ///< a cable (NVLink, xGMI) from one GPU to another
  gpu_up,            ///< from a GPU to a switch
  gpu_down,          ///< from a switch to a GPU
  pcie_up,           ///< a GPU's PCIe slot, out of the GPU
  pcie_down,         ///< a GPU's PCIe slot, into the GPU
  pcie_switch_up,    ///< from a PCIe switch to its socket
  pcie_switch_down,  ///< from a socket to a PCIe switch
  staging,           ///< what one GPU passes through host memory, both directions together
  host_bridge,       ///< what a socket passes between its PCIe ports
  host_memory,       ///< of one socket
  inter_socket,      ///< from socket to socket
  nic_out,           ///< out of a node
  nic_in,            ///< into a node
  fabric_out,        ///< a node's part of an oversubscribed fabric, or the uplinks of a group of nodes
  fabric_in,         ///< the same, the other way
  switch_to_switch,  ///< from switch to switch
  medium,            ///< one that everything on it shares
  other,             ///< not said; no two of these are of one kind
};

/// What limits a predicted time. `kind` says which fields are set; words:
/// analysis/comparison/point_sentences.hpp.
struct Limit {
  enum class Kind : std::uint8_t {
    shared_link,   ///< `flows` share a link: `link_kind`, `link`, `node`, `flows`, `crossings`, `others`
    shared_cores,  ///< `ranks` share `cores` CPU cores
    contention,    ///< messages under way together take `factor` times as long as one alone, as probes found
    model,         ///< a model that simulates no links says it in `text`
  };

  Kind kind = Kind::shared_link;
  LinkKind link_kind = LinkKind::other;
  std::string link = {};         ///< The first such link, for people: `GPU 0 PCIe up`.
  std::optional<int> node = {};  ///< That has it; none = there is one node, or the link belongs to none.
  int flows = 0;                 ///< That share it at once.
  int crossings = 0;             ///< Crossings by these flows, each of which may cross it several times.
  bool others = false;           ///< Other links of this kind are shared by as many flows.
  int ranks = 0;
  int cores = 0;
  double factor = 0;
  std::string text = {};

  bool operator==(const Limit&) const = default;
};

FieldTable<Limit> table_of(const Limit* any);

}  // namespace ringside
