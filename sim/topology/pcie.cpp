#include "sim/topology/pcie.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "sim/topology/node.hpp"

namespace ringside {

int share_of(int thing, int num_things, int num_shares) {
  return static_cast<int>(std::int64_t{thing} * num_shares / num_things);
}

int first_of_share(int share, int num_things, int num_shares) {
  return static_cast<int>((std::int64_t{share} * num_things + num_shares - 1) / num_shares);
}

PcieTree::PcieTree(NodePlan& plan, const PcieWords& words, SpecNumbers numbers) : words_(words) {
  const int num_gpus = plan.num_gpus;
  for (int gpu = 0; gpu < num_gpus; ++gpu) {
    Place place{.socket = share_of(gpu, num_gpus, words_.sockets)};
    if (words_.only_for_nics) {
      place.pcie_switch = place.socket;
    } else if (words_.gpus_per_switch) {
      place.pcie_switch = gpu / *words_.gpus_per_switch;
      const int first = place.pcie_switch * *words_.gpus_per_switch;
      if (gpus_.size() > at(first) && gpus_[at(first)].socket != place.socket) {
        throw bad_input(
            "{} GPUs on {} sockets cannot hang on switches of {}: GPUs {} and {} would share a "
            "switch but not a socket (gpus_per_node, sockets, gpus_per_switch)",
            num_gpus, words_.sockets, *words_.gpus_per_switch, first, gpu);
      }
    }
    gpus_.push_back(place);
  }
  for (int nic = 0; nic < words_.num_nics; ++nic) {
    const auto first = gpus_.begin() + first_of_share(nic, num_gpus, words_.num_nics);
    const auto end = gpus_.begin() + first_of_share(nic + 1, num_gpus, words_.num_nics);
    const bool one_switch =
        std::all_of(first, end, [&](const Place& gpu) { return gpu.pcie_switch == first->pcie_switch; });
    nics_.push_back({.socket = first->socket, .pcie_switch = one_switch ? first->pcie_switch : -1});
  }
  add_sockets(plan, numbers);
  add_switches(plan, numbers);
  add_slots(plan, numbers);
}

void PcieTree::add_sockets(NodePlan& plan, SpecNumbers numbers) {
  const bool staged =
      (!words_.only_for_nics && !words_.peer_to_peer) || (words_.num_nics > 0 && !words_.gpudirect);
  const bool direct =
      (!words_.only_for_nics && words_.peer_to_peer) || (words_.num_nics > 0 && words_.gpudirect);
  for (int socket = 0; socket < words_.sockets; ++socket) {
    const std::int32_t vertex = plan.add_vertex(fmt::format("socket {}", socket), VertexKind::host_bridge);
    socket_vertex_.push_back(vertex);
    if (direct) {
      const auto on_socket = [&](const Place& place) { return place.socket == socket; };
      const auto num_gpus = std::ranges::count_if(gpus_, on_socket);
      const auto num_nics = std::ranges::count_if(nics_, on_socket);
      const int num_ports = static_cast<int>(num_gpus + num_nics) + words_.sockets - 1;
      bridge_.push_back(plan.add_link(LinkKind::host_bridge, fmt::format("host bridge of socket {}", socket),
                                      choose(at_speed(host_bridge(words_.generation, num_ports)), numbers),
                                      vertex, vertex));
    }
    if (staged) {
      memory_.push_back(plan.add_link(LinkKind::host_memory, fmt::format("host memory of socket {}", socket),
                                      choose(host_memory(words_.generation), numbers), vertex, vertex));
    }
  }
  const LinkNumbers link = choose(socket_link(words_.generation), numbers);
  for (int source = 0; source < words_.sockets; ++source) {
    for (int target = 0; target < words_.sockets; ++target) {
      socket_link_.push_back(source == target
                                 ? -1
                                 : plan.add_link(LinkKind::inter_socket,
                                                 fmt::format("socket {} to socket {}", source, target), link,
                                                 socket_vertex_[at(source)], socket_vertex_[at(target)]));
    }
  }
}

void PcieTree::add_switches(NodePlan& plan, SpecNumbers numbers) {
  if (words_.only_for_nics) {
    for (int socket = 0; socket < words_.sockets; ++socket) {
      switch_vertex_.push_back(plan.add_vertex(fmt::format("PCIe of socket {}", socket),
                                               VertexKind::switching, socket_vertex_[at(socket)]));
    }
    return;
  }
  LinkNumbers uplink = choose(at_speed(pcie_slot(words_.generation, 16, words_.peer_to_peer)), numbers);
  uplink.latency = {};  // Switching takes about 0.1 us, within what the slots' latency leaves open.
  const int num_switches = gpus_.empty() ? 0 : gpus_.back().pcie_switch + 1;
  for (int id = 0; id < num_switches; ++id) {
    const std::int32_t vertex = plan.add_vertex(fmt::format("PCIe switch {}", id), VertexKind::switching);
    const std::int32_t socket = socket_vertex_[at(gpus_[at(id * *words_.gpus_per_switch)].socket)];
    switch_vertex_.push_back(vertex);
    switch_up_.push_back(plan.add_link(LinkKind::pcie_switch_up, fmt::format("PCIe switch {} up", id), uplink,
                                       vertex, socket));
    switch_down_.push_back(plan.add_link(LinkKind::pcie_switch_down, fmt::format("PCIe switch {} down", id),
                                         uplink, socket, vertex));
  }
}

void PcieTree::add_slots(NodePlan& plan, SpecNumbers numbers) {
  const bool direct = words_.only_for_nics ? words_.gpudirect : words_.peer_to_peer;
  const LinkNumbers numbers_of_slot = half_latency(choose(slot(direct), numbers));
  slot_latency_ = numbers_of_slot.latency;
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    const std::int32_t above = vertex_of(gpus_[at(gpu)]);
    slot_up_.push_back(
        plan.add_link(LinkKind::pcie_up, fmt::format("GPU {} PCIe up", gpu), numbers_of_slot, gpu, above));
    slot_down_.push_back(plan.add_link(LinkKind::pcie_down, fmt::format("GPU {} PCIe down", gpu),
                                       numbers_of_slot, above, gpu));
  }
  if (words_.only_for_nics || words_.peer_to_peer) {
    return;
  }
  const LinkNumbers staging = choose(at_speed(card_staging(words_.generation, words_.lanes)), numbers);
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    staging_.push_back(plan.add_link(LinkKind::staging, fmt::format("staging of GPU {} in host memory", gpu),
                                     staging, gpu, gpu));
  }
}

/// What is measured of a slot goes straight through it; staging takes its usual part of that.
LinkSheet PcieTree::slot(bool direct) const {
  const LinkSheet usual = pcie_slot(words_.generation, words_.lanes, direct);
  return direct && words_.speed ? at_measured_speed(usual, *words_.speed) : at_speed(usual);
}

std::int32_t PcieTree::vertex_of(const Place& place) const {
  return place.pcie_switch >= 0 ? switch_vertex_[at(place.pcie_switch)] : socket_vertex_[at(place.socket)];
}

std::int32_t PcieTree::nic_vertex(int nic) const { return vertex_of(nics_[at(nic)]); }

void PcieTree::append_between(const Place& source, const Place& target, bool staged,
                              std::vector<std::int32_t>& route) const {
  if (!staged && source.pcie_switch >= 0 && source.pcie_switch == target.pcie_switch) {
    return;
  }
  const std::vector<std::int32_t>& host = staged ? memory_ : bridge_;
  if (source.pcie_switch >= 0 && !switch_up_.empty()) {
    route.push_back(switch_up_[at(source.pcie_switch)]);
  }
  route.push_back(host[at(source.socket)]);
  if (source.socket != target.socket) {
    route.push_back(socket_link_[at(source.socket * words_.sockets + target.socket)]);
    route.push_back(host[at(target.socket)]);
  } else if (staged) {
    route.push_back(host[at(source.socket)]);
  }
  if (target.pcie_switch >= 0 && !switch_down_.empty()) {
    route.push_back(switch_down_[at(target.pcie_switch)]);
  }
}

void PcieTree::append_gpu_to_gpu(int source, int target, std::vector<std::int32_t>& route) const {
  const bool staged = !words_.peer_to_peer;
  route.push_back(slot_up_[at(source)]);
  if (staged) {
    route.push_back(staging_[at(source)]);
  }
  append_between(gpus_[at(source)], gpus_[at(target)], staged, route);
  if (staged) {
    route.push_back(staging_[at(target)]);
  }
  route.push_back(slot_down_[at(target)]);
}

void PcieTree::append_gpu_to_nic(int gpu, int nic, std::vector<std::int32_t>& route) const {
  route.push_back(slot_up_[at(gpu)]);
  append_between(gpus_[at(gpu)], nics_[at(nic)], !words_.gpudirect, route);
}

void PcieTree::append_nic_to_gpu(int nic, int gpu, std::vector<std::int32_t>& route) const {
  append_between(nics_[at(nic)], gpus_[at(gpu)], !words_.gpudirect, route);
  route.push_back(slot_down_[at(gpu)]);
}

}  // namespace ringside
