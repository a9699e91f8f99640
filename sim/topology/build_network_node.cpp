#include <algorithm>
#include <utility>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "sim/topology/build_network_parts.hpp"
#include "sim/topology/pcie.hpp"

namespace ringside {
namespace {

/// A mesh lists every pair of a node.
constexpr int kMostMeshGpus = 1024;

/// Plans one node from the machine's description.
class NodePlanner {
 public:
  NodePlanner(const BuildRequest& request, int num_gpus, bool several_nodes)
      : request_(request),
        machine_(request.machine),
        num_gpus_(num_gpus),
        several_nodes_(several_nodes),
        node_{.plan = NodePlan(num_gpus)} {}

  PlannedNode run() {
    check_words();
    if (num_gpus_ > 1) {
      wire_gpus();
    } else if (machine_.intra && machine_.intra->kind == IntraKind::pcie) {
      tree_ = pcie_tree(pcie_words());  // For the way to the NIC.
    } else if (machine_.intra && machine_.intra->kind == IntraKind::custom && !several_nodes_) {
      node_.private_pairs = custom_numbers();
    }
    if (several_nodes_) {
      attach_nics();
    }
    return std::move(node_);
  }

 private:
  void check_words() const {
    if (num_gpus_ > 1 && !machine_.intra) {
      fail(machine_, "intra", "left out, but a node has {} GPUs; say how they reach each other", num_gpus_);
    }
    if (several_nodes_ && !machine_.inter) {
      fail(machine_, "inter",
           "left out, but {} ranks need more than one node; say how nodes reach each other",
           request_.num_ranks);
    }
    if (several_nodes_) {
      require_some(machine_, "inter.nics", machine_.inter->nics, "NICs");
    }
  }

  // --- Inside the node -------------------------------------------------------------------------------------

  void wire_gpus() {
    switch (machine_.intra->kind) {
      case IntraKind::custom:
        return wire_custom();
      case IntraKind::nvlink:
        return wire_nvlink();
      case IntraKind::xgmi:
        return wire_xgmi();
      case IntraKind::pcie:
        tree_ = pcie_tree(pcie_words());
        wire_pcie(node_.plan, *tree_);
        return;
    }
  }

  void wire_custom() {
    const LinkNumbers numbers = custom_numbers();
    if (machine_.intra->shared) {
      wire_medium(node_.plan, numbers);
      return;
    }
    node_.private_pairs = numbers;
    node_.single_port = machine_.intra->ports.value_or(Ports::one) == Ports::one;
    if (!several_nodes_) {
      return;
    }
    if (node_.single_port) {
      wire_switch(node_.plan, {"any other GPU", "'s port out", "'s port in"}, half_latency(numbers));
    } else {
      wire_pairs("private link", numbers);
    }
  }

  void wire_pairs(const std::string& cable, const LinkNumbers& numbers) {
    if (num_gpus_ > kMostMeshGpus) {
      fail(machine_, "gpus_per_node",
           "a private link for every pair of {} GPUs is too much to simulate; at "
           "most {} GPUs per node",
           num_gpus_, kMostMeshGpus);
    }
    wire_mesh(node_.plan, cable, numbers);
  }

  LinkNumbers custom_numbers() const {
    return stated_numbers("intra", machine_.intra->latency, machine_.intra->bandwidth);
  }

  LinkNumbers stated_numbers(const std::string& key, const std::optional<Seconds>& latency,
                             const std::optional<BytesPerSecond>& bandwidth) const {
    if (!latency) {
      fail(machine_, key + ".latency", "left out, but a custom link has no other source for it");
    }
    if (!bandwidth) {
      fail(machine_, key + ".bandwidth", "left out, but a custom link has no other source for it");
    }
    if (!(bandwidth->value > 0)) {
      fail(machine_, key + ".bandwidth", "nothing can be sent at 0 B/s");
    }
    return {.latency = *latency, .capacity = *bandwidth};
  }

  void wire_nvlink() {
    const IntraLink& intra = *machine_.intra;
    const int generation =
        stated_or_known("intra.generation", intra.generation, &GpuModel::nvlink_generation);
    const int links = stated_or_known("intra.links_per_gpu", intra.links_per_gpu, &GpuModel::num_links);
    require_some(machine_, "intra.links_per_gpu", links, "links");
    node_.from_specification = true;
    if (intra.nvswitch.value_or(false)) {
      if (intra.wiring) {
        fail(machine_, "intra.wiring",
             "with `switch: true` every GPU is wired to the switch; leave one of them out");
      }
      const LinkSheet kind = located(machine_, "intra.generation", [&] { return nvswitch(generation); });
      const LinkNumbers port = bundle(links, choose(as_measured(kind, links), request_.numbers));
      wire_switch(node_.plan, {"NVLink switch", " NVLink up", " NVLink down"}, half_latency(port));
      return;
    }
    const LinkSheet kind = located(machine_, "intra.generation", [&] { return nvlink_of(generation); });
    const LinkNumbers link = choose(as_measured(kind, links), request_.numbers);
    const std::string wiring = intra.wiring.value_or("full_mesh");
    if (wiring == "full_mesh") {
      wire_full_mesh("NVLink", links, link);
    } else if (wiring == "hybrid_cube_mesh") {
      wire_cube_mesh(links, link);
    } else {
      tree_ = pcie_tree(bridged_pcie_words());
      wire_bridged_pairs(node_.plan, "NVLink bridge", bundle(links, link), *tree_);
    }
  }

  LinkSheet nvlink_of(int generation) const {
    const bool same =
        request_.gpu && request_.gpu->nvlink_generation == generation && request_.gpu->link_rate;
    return nvlink(generation, same ? *request_.gpu->link_rate : BytesPerSecond{});
  }

  void wire_xgmi() {
    const IntraLink& intra = *machine_.intra;
    const int generation = stated_or_known("intra.generation", intra.generation, &GpuModel::xgmi_generation);
    const int links = stated_or_known("intra.links_per_gpu", intra.links_per_gpu, &GpuModel::num_links);
    node_.from_specification = true;
    const LinkSheet kind = located(machine_, "intra.generation", [&] { return xgmi(generation); });
    wire_full_mesh("xGMI", links, choose(as_measured(kind, links), request_.numbers));
  }

  void wire_full_mesh(const std::string& cable, int links, const LinkNumbers& link) {
    if (!machine_.gpus_per_node) {
      fail(machine_, "gpus_per_node", "left out, but the links of a mesh are divided over that many GPUs");
    }
    const int peers = num_gpus_ - 1;
    if (links < peers || links % peers != 0) {
      fail(machine_, "intra.links_per_gpu",
           "{} links per GPU cannot be divided over {} peers; is there a switch, or another wiring?", links,
           peers);
    }
    const LinkNumbers pair = bundle(links / peers, link);
    node_.private_pairs = pair;
    wire_pairs(cable, pair);
  }

  void wire_cube_mesh(int links, const LinkNumbers& link) {
    if (num_gpus_ != 8 && num_gpus_ != 4) {
      fail(machine_, "gpus_per_node", "{} GPUs; a hybrid_cube_mesh has 8 or 4", num_gpus_);
    }
    if (links != 6 && links != 4) {
      fail(machine_, "intra.links_per_gpu", "{}; a hybrid_cube_mesh has 6 links per GPU (V100) or 4 (P100)",
           links);
    }
    wire_hybrid_cube_mesh(node_.plan, "NVLink", link, links == 6);
    node_.needs_ring_order = true;
  }

  /// measured_speed() of intra's bandwidth, which is `count` such links' together.
  double speed_of(const LinkSheet& usual, int count) const {
    return located(machine_, "intra.bandwidth",
                   [&] { return measured_speed(usual, count, *machine_.intra->bandwidth); });
  }

  /// One of those links: as usual where the machine says no bandwidth.
  LinkSheet as_measured(const LinkSheet& usual, int count) const {
    return machine_.intra->bandwidth ? at_measured_speed(usual, speed_of(usual, count)) : usual;
  }

  // --- PCIe ------------------------------------------------------------------------------------------------

  PcieWords pcie_words() const {
    PcieWords words = placed_words();
    words.generation =
        stated_or_known("intra.generation", machine_.intra->generation, &GpuModel::pcie_generation);
    if (machine_.intra->bandwidth) {
      words.speed = speed_of(
          located(machine_, "intra", [&] { return pcie_slot(words.generation, words.lanes, true); }), 1);
    }
    return words;
  }

  /// `generation` of a machine with bridges is NVLink's; PCIe's comes with the GPU.
  PcieWords bridged_pcie_words() const {
    PcieWords words = placed_words();
    const std::optional<int> generation = known(&GpuModel::pcie_generation);
    if (!generation) {
      fail(machine_, "gpu",
           "left out, but pairs without a bridge use PCIe, whose generation the GPU model tells");
    }
    words.generation = *generation;
    return words;
  }

  /// All but the generation.
  PcieWords placed_words() const {
    const IntraLink& intra = *machine_.intra;
    PcieWords words{.lanes = intra.lanes.value_or(16),
                    .gpus_per_switch = intra.gpus_per_switch,
                    .sockets = intra.sockets.value_or(1),
                    .peer_to_peer = intra.peer_to_peer.value_or(known_peer_to_peer()),
                    .gpudirect = gpudirect(),
                    .num_nics = num_nic_groups()};
    require_some(machine_, "intra.sockets", words.sockets, "sockets");
    require_some(machine_, "intra.gpus_per_switch", words.gpus_per_switch.value_or(1), "GPUs");
    return words;
  }

  PcieTree pcie_tree(const PcieWords& words) {
    node_.from_specification = true;
    return located(machine_, "intra", [&] { return PcieTree(node_.plan, words, request_.numbers); });
  }

  bool known_peer_to_peer() const { return !request_.gpu || request_.gpu->peer_to_peer.value_or(true); }

  // --- To other nodes --------------------------------------------------------------------------------------

  bool gpudirect() const {
    return machine_.inter && machine_.inter->gpudirect.value_or(machine_.inter->kind != InterKind::ethernet &&
                                                                known_peer_to_peer());
  }

  /// NICs that serve the same GPUs are used together, as one wider NIC.
  int num_nic_groups() const { return several_nodes_ ? std::min(machine_.inter->nics, num_gpus_) : 0; }

  void attach_nics() {
    const InterLink& inter = *machine_.inter;
    const std::optional<int> generation = known(&GpuModel::pcie_generation);
    if (!tree_ && inter.kind != InterKind::custom && generation) {
      tree_ = pcie_tree({.generation = *generation,
                         .sockets = machine_.intra ? machine_.intra->sockets.value_or(1) : 1,
                         .gpudirect = gpudirect(),
                         .num_nics = num_nic_groups(),
                         .only_for_nics = true});
    }
    LinkNumbers nic = nic_numbers();
    const double all_nics = inter.nics * nic.capacity.value;
    nic.capacity.value = all_nics / num_nic_groups();
    // What is published reaches from GPU to GPU, so that the slots on the way are part of it already.
    const double slots = tree_ ? tree_->slot_latency().value : 0;
    nic.latency = {std::max(0.0, nic.latency.value / 2 - slots)};

    std::vector<std::int32_t> out;
    std::vector<std::int32_t> in;
    for (int group = 0; group < num_nic_groups(); ++group) {
      const std::string label = nic_label(group);
      const std::int32_t vertex = node_.plan.add_vertex(label, VertexKind::nic, nic_place(group));
      out.push_back(node_.plan.add_link(LinkKind::nic_out, label + " out", nic, vertex, kFabric));
      in.push_back(node_.plan.add_link(LinkKind::nic_in, label + " in", nic, kFabric, vertex));
    }
    std::vector<std::int32_t> uplink;
    if (inter.oversubscription > 1) {
      const LinkNumbers numbers{.capacity = {all_nics / inter.oversubscription}};
      uplink = {
          node_.plan.add_link(LinkKind::fabric_out, "part of the fabric, out", numbers, kFabric, kFabric),
          node_.plan.add_link(LinkKind::fabric_in, "part of the fabric, in", numbers, kFabric, kFabric)};
    }
    node_.plan.groups = plan_groups(machine_, {all_nics});
    for (int gpu = 0; gpu < num_gpus_; ++gpu) {
      const int group = share_of(gpu, num_gpus_, num_nic_groups());
      std::vector<std::int32_t>& leave = node_.plan.leave[at(gpu)];
      std::vector<std::int32_t>& enter = node_.plan.enter[at(gpu)];
      if (tree_) {
        tree_->append_gpu_to_nic(gpu, group, leave);
      }
      leave.push_back(out[at(group)]);
      if (!uplink.empty()) {
        leave.push_back(uplink[0]);
        enter.push_back(uplink[1]);
      }
      enter.push_back(in[at(group)]);
      if (tree_) {
        tree_->append_nic_to_gpu(group, gpu, enter);
      }
    }
  }

  /// Numbers of one NIC, with the latency of the whole way.
  LinkNumbers nic_numbers() {
    const InterLink& inter = *machine_.inter;
    if (inter.kind == InterKind::custom) {
      return stated_numbers("inter", inter.latency, inter.bandwidth);
    }
    if (!inter.rate) {
      fail(machine_, "inter.rate", "left out; say the data-sheet rate of one {} NIC, such as 200 Gb/s",
           name(inter.kind));
    }
    if (!(inter.rate->value > 0)) {
      fail(machine_, "inter.rate", "nothing can be sent at 0 B/s");
    }
    node_.from_specification = true;
    return choose(network_link(inter.kind, *inter.rate), request_.numbers);
  }

  std::string nic_label(int group) const {
    const auto first_of = [&](int of) { return first_of_share(of, machine_.inter->nics, num_nic_groups()); };
    return consecutive("NIC", first_of(group), first_of(group + 1) - 1, " to ");
  }

  std::int32_t nic_place(int group) const {
    return tree_ ? tree_->nic_vertex(group) : first_of_share(group, num_gpus_, num_nic_groups());
  }

  // --- Words -----------------------------------------------------------------------------------------------

  std::optional<int> known(std::optional<int> GpuModel::*number) const {
    return request_.gpu ? *request_.gpu.*number : std::nullopt;
  }

  int stated_or_known(std::string_view key, const std::optional<int>& stated,
                      std::optional<int> GpuModel::*number) const {
    const std::optional<int> found = stated ? stated : known(number);
    if (!found) {
      fail(machine_, key, "left out, and no data sheet of a `gpu` that the machine names tells it");
    }
    return *found;
  }

  const BuildRequest& request_;
  const Machine& machine_;
  int num_gpus_;
  bool several_nodes_;
  PlannedNode node_;
  std::optional<PcieTree> tree_;
};

}  // namespace

PlannedNode plan_node(const BuildRequest& request, int num_gpus, bool several_nodes) {
  return NodePlanner(request, num_gpus, several_nodes).run();
}

}  // namespace ringside
