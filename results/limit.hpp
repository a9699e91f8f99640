#pragma once

#include <array>
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

constexpr auto spellings_of(LinkKind /*any*/) {
  using enum LinkKind;
  return std::to_array<Spelling<LinkKind>>({{gpu_to_gpu, "gpu_to_gpu"},
                                            {gpu_up, "gpu_up"},
                                            {gpu_down, "gpu_down"},
                                            {pcie_up, "pcie_up"},
                                            {pcie_down, "pcie_down"},
                                            {pcie_switch_up, "pcie_switch_up"},
                                            {pcie_switch_down, "pcie_switch_down"},
                                            {staging, "staging"},
                                            {host_bridge, "host_bridge"},
                                            {host_memory, "host_memory"},
                                            {inter_socket, "inter_socket"},
                                            {nic_out, "nic_out"},
                                            {nic_in, "nic_in"},
                                            {fabric_out, "fabric_out"},
                                            {fabric_in, "fabric_in"},
                                            {switch_to_switch, "switch_to_switch"},
                                            {medium, "medium"},
                                            {other, "other"}});
}

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

constexpr auto spellings_of(Limit::Kind /*any*/) {
  using enum Limit::Kind;
  return std::to_array<Spelling<Limit::Kind>>({{shared_link, "shared_link"},
                                               {shared_cores, "shared_cores"},
                                               {contention, "contention"},
                                               {model, "model"}});
}

FieldTable<Limit> table_of(const Limit* any);

}  // namespace ringside
