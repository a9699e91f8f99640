
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

/// Links of a GPU, NICs of a node: more than any machine has, small enough to multiply.
constexpr std::int64_t kMaxPerPart = 1024;
constexpr std::int64_t kMaxSockets = 64;

// Which kinds take a key.
using Kinds = std::vector<std::string>;
Kinds custom() { return {"custom"}; }
Kinds nvlink() { return {"nvlink"}; }
Kinds cables() { return {"nvlink", "xgmi"}; }
/// NVLink bridges join pairs of cards in PCIe slots, and other pairs meet over PCIe.
Kinds slots() { return {"pcie", "nvlink"}; }
Kinds specified() { return {"nvlink", "pcie", "xgmi"}; }
Kinds all_inside() { return {"nvlink", "pcie", "xgmi", "custom"}; }
Kinds networks() { return {"infiniband", "roce", "efa", "tcpx", "tcpxo", "ethernet", "slingshot"}; }
/// Among the kinds between nodes, the one whose rate does not tell its generations apart.
Kinds efa() { return {"efa"}; }
constexpr int kNewestEfa = 4;

/// Newest generation of nvlink, pcie, xgmi and (it has none) custom; `generation` is one key for all of them.
constexpr std::array kNewestGeneration = {5, 6, 4, 0};

/// PCIe slots are 1, 4, 8 or 16 lanes wide.
ValueType<int> lanes_type() {
  const ValueType<std::string> word = word_type("number of lanes", {"1", "4", "8", "16"});
  return {.form = word.form,
          .allowed = word.allowed,
          .read = [word](Reader& reader, const Value& value) -> std::optional<int> {
            const auto text = word.read(reader, value);
            return text ? parse_number<int>(*text) : std::nullopt;
          },
          .write = [](YAML::Emitter& out, const int& lanes) { out << lanes; }};
}

void check_intra(Reader& reader, const Value& value, const IntraLink& link) {
  const auto under = [&](std::string_view key) { return reader.find(value, key).value_or(value); };
  const int newest = kNewestGeneration[static_cast<std::size_t>(link.kind)];
  const bool kind_known = newest > 0;  // Not custom, nor a kind that was refused.
  if (kind_known && link.generation && *link.generation > newest) {
    reader.fail(under("generation"), "there is no {} of generation {}; write 1 to {}", name(link.kind),
                *link.generation, newest);
  }
  // A wiring that was refused may have been meant to be bridge_pairs.
  const bool bridges = link.wiring == "bridge_pairs" || (!link.wiring && reader.find(value, "wiring"));
  if (link.kind == IntraKind::nvlink && !bridges) {
    for (const std::string_view key : {"lanes", "peer_to_peer", "gpus_per_switch", "sockets"}) {
      if (const auto place = reader.find(value, key)) {
        reader.fail(*place,
                    "belongs to kind pcie, and to nvlink only with `wiring: bridge_pairs`, where other pairs "
                    "meet over PCIe");
      }
    }
  }
  if (link.ports && link.shared) {
    reader.fail(under("ports"), "says what a rank's own link carries, but with `shared: true` it has none");
  }
  if (link.wiring && link.nvswitch.value_or(false)) {
    reader.fail(under("wiring"),
                "says how links go from GPU to GPU, but `switch: true` says that they go to a switch");
  }
}

/// The rank that the end of a link names; nothing for a switch.
std::optional<std::int64_t> rank_of_end(std::string_view end) {
  constexpr std::string_view kPrefix = "rank ";
  if (!end.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string_view digits = end.substr(kPrefix.size());
  const std::optional<std::int64_t> rank = parse_number<std::int64_t>(digits);
  const bool exists = rank && *rank >= 0 && *rank < kMaxRanks;
  return exists && digits == fmt::format("{}", *rank) ? rank : std::nullopt;
}

/// `rank 3` or the name of a switch. A misspelt rank is refused: as a switch it leads nowhere.
ValueType<std::string> link_end_type() {
  return narrowed(text_type("`rank 3`, or any other name for a switch"),
                  [](const Value&, const std::string& text) {
                    const bool only_digits = text.find_first_not_of("0123456789") == std::string::npos;
                    const std::string start = text.substr(0, 4);
                    const bool like_rank = (start == "rank" || start == "Rank" || start == "RANK") &&
                                           (text.size() == 4 || text.find_first_of(" -_0123456789", 4) == 4);
                    return only_digits || (like_rank && !rank_of_end(text))
                               ? fmt::format("{} names no rank; write `rank 3` for rank 3", in_quotes(text))
                               : "";
                  });
}

MapTable<FabricLevel> level_table() {
  return {
      .form = "a map such as `{nodes: 32, oversubscription: 4}`",
      .rows =
          {
              row<&FabricLevel::nodes>(whole_number_type({.min = 2, .max = kMaxRanks}), {.required = true}),
              row<&FabricLevel::oversubscription>(factor_type(1), {.default_value = "1"}),
              row<&FabricLevel::latency>(time_type()),
              row<&FabricLevel::pairwise>(bool_type(), {.default_value = "false"}),
          },
  };
}

/// A group is made of whole groups of the level below, and only the largest groups are joined pair by pair.
void check_levels(Reader& reader, const Value& place, const InterLink& inter) {
  int below = 1;
  for (const FabricLevel& level : inter.levels) {
    if (level.nodes <= below || level.nodes % below != 0) {
      reader.fail(reader.find(place, "levels").value_or(place),
                  "groups of {} nodes are not made of several groups of {}; list the smallest first",
                  level.nodes, below);
      return;
    }
    below = level.nodes;
    if (level.pairwise && &level != &inter.levels.back()) {
      reader.fail(reader.find(place, "levels").value_or(place),
                  "groups of {} nodes are pairwise, and only the last level can be", level.nodes);
      return;
    }
  }
}

}  // namespace

MapTable<IntraLink> intra_table() {
  return {
      .form = "a map such as `{kind: pcie, generation: 4, lanes: 16}`",
      .rows =
          {
              row<&IntraLink::kind>(choice_type<IntraKind>("link kind"), {.required = true}),
              row<&IntraLink::generation>(whole_number_type({.min = 1, .max = 6}), {.kinds = specified()}),
              row<&IntraLink::links_per_gpu>(whole_number_type({.min = 1, .max = kMaxPerPart}),
                                             {.kinds = cables()}),
              row("switch", &IntraLink::nvswitch, bool_type(), {.default_value = "false", .kinds = nvlink()}),
              row<&IntraLink::wiring>(word_type("wiring", {"full_mesh", "hybrid_cube_mesh", "bridge_pairs"}),
                                      {.default_value = "full_mesh", .kinds = nvlink()}),
              row<&IntraLink::lanes>(lanes_type(), {.default_value = "16", .kinds = slots()}),
              row<&IntraLink::peer_to_peer>(bool_type(), {.kinds = slots()}),
              row<&IntraLink::gpus_per_switch>(whole_number_type({.min = 1, .max = kMaxPerPart}),
                                               {.kinds = slots()}),
              row<&IntraLink::sockets>(whole_number_type({.min = 1, .max = kMaxSockets}),
                                       {.default_value = "1", .kinds = slots()}),
              row<&IntraLink::latency>(time_type(), {.required = true, .kinds = custom()}),
              row<&IntraLink::bandwidth>(bandwidth_type(),
                                         {.required = true, .kinds = all_inside(), .required_by = custom()}),
              row<&IntraLink::reduction>(cost_type(), {.default_value = "0 s/B", .kinds = custom()}),
              row<&IntraLink::shared>(bool_type(), {.default_value = "false", .kinds = custom()}),
              row<&IntraLink::ports>(choice_type<Ports>("number of ports"),
                                     {.default_value = "1", .kinds = custom()}),
          },
      .check = check_intra,
  };
}

MapTable<InterLink> inter_table() {
  return {
      .form = "a map such as `{kind: infiniband, rate: 200 Gb/s, nics: 8}`",
      .rows =
          {
              row<&InterLink::kind>(choice_type<InterKind>("network kind"), {.required = true}),
              row<&InterLink::generation>(whole_number_type({.min = 1, .max = kNewestEfa}), {.kinds = efa()}),
              row<&InterLink::rate>(bandwidth_type(), {.required = true, .kinds = networks()}),
              row<&InterLink::nics>(whole_number_type({.min = 1, .max = kMaxPerPart}),
                                    {.default_value = "1"}),
              row<&InterLink::gpudirect>(bool_type(), {.kinds = networks()}),
              row<&InterLink::oversubscription>(factor_type(1), {.default_value = "1"}),
              row<&InterLink::levels>(
                  list_type(map_type(level_table()),
                            {.form = "a list of maps such as `{nodes: 32, oversubscription: 4}`"})),
              row<&InterLink::latency>(time_type(), {.required = true, .kinds = custom()}),
              row<&InterLink::bandwidth>(bandwidth_type(), {.required = true, .kinds = custom()}),
          },
      .check = check_levels,
  };
}

MapTable<LinkSpec> link_table() {
  return {
      .form = "a map such as `{from: rank 0, to: switch, latency: 2 us, bandwidth: 25 GB/s}`",
      .rows =
          {
              row<&LinkSpec::from>(link_end_type(), {.required = true}),
              row<&LinkSpec::to>(link_end_type(), {.required = true}),
              row<&LinkSpec::latency>(time_type(), {.required = true}),
              row<&LinkSpec::bandwidth>(bandwidth_type(), {.required = true}),
              row<&LinkSpec::duplex>(bool_type(), {.default_value = "true"}),
          },
      .check =
          [](Reader& reader, const Value& value, LinkSpec& link) {
            link.line = value.position.line;
            if (!link.from.empty() && link.from == link.to) {
              reader.fail(value, "goes from {} to itself", in_quotes(link.from));
            }
          },
  };
}

void check_links(Reader& reader, const Value& place, const Machine& machine) {
  std::map<std::pair<std::string, std::string>, int> lines;
  const auto gpus = num_gpus(machine);
  for (const LinkSpec& link : machine.links) {
    Value here = place;
    here.position = {.line = link.line, .column = place.position.column};
    const auto [first, fresh] = lines.try_emplace(std::minmax(link.from, link.to), link.line);
    if (!fresh) {
      reader.fail(here, "{} and {} are already joined by the link of line {}", in_quotes(link.from),
                  in_quotes(link.to), first->second);
    }
    for (const std::string& end : {link.from, link.to}) {
      if (gpus && rank_of_end(end).value_or(0) >= *gpus) {
        reader.fail(here, "{} does not exist; the machine has {} GPUs", in_quotes(end), *gpus);
      }
    }
  }
}

}  // namespace ringside
