#include "scenario/machine_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "common/names.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kMaxRanks = 16'777'216;
constexpr std::int64_t kMaxPerRank =
    1024;  ///< Links, NICs: more than any machine has, small enough to multiply.

const std::vector<std::string> kCustom = {"custom"};
const std::vector<std::string> kPcie = {"pcie"};
const std::vector<std::string> kNvlink = {"nvlink"};
const std::vector<std::string> kCables = {"nvlink", "xgmi"};
const std::vector<std::string> kSpecified = {"nvlink", "pcie", "xgmi"};
const std::vector<std::string> kNetworks = {"infiniband", "roce", "efa", "ethernet", "slingshot"};

ValueType<Rank> rank_type() { return whole_number_type({.min = 0, .max = kMaxRanks - 1}); }

std::optional<std::int64_t> num_gpus(const Machine& machine) {
  if (!machine.gpus_per_node) {
    return std::nullopt;
  }
  return std::int64_t{machine.nodes} * *machine.gpus_per_node;
}

MapTable<Gpu> gpu_table() {
  return {
      .form = "a map such as `{model: A100-SXM4-80GB}`",
      .rows = {row(
          "model", &Gpu::model, text_type("a GPU model such as `A100-SXM4-80GB`"),
          {.meaning = "Model as its data sheet calls it; gives the reduction cost, and the generation of its "
                      "links where `intra` does not.",
           .required = true})}};
}

// --- Inside a node --------------------------------------------------------------------------------------------------

/// Newest generation of each kind; `generation` is one key for all of them.
int newest_generation(IntraKind kind) {
  switch (kind) {
    case IntraKind::nvlink:
      return 5;
    case IntraKind::pcie:
      return 6;
    case IntraKind::xgmi:
      return 4;
    case IntraKind::custom:
      break;
  }
  return 0;
}

/// PCIe slots are 1, 4, 8 or 16 lanes wide.
ValueType<int> lanes_type() {
  const ValueType<std::string> word = word_type("number of lanes", {"1", "4", "8", "16"});
  return {.form = word.form,
          .allowed = word.allowed,
          .read = [word](Reader& reader, const Value& value) -> std::optional<int> {
            const auto text = word.read(reader, value);
            return text ? std::optional(std::stoi(*text)) : std::nullopt;
          },
          .write = [](YAML::Emitter& out, const int& lanes) { out << lanes; }};
}

void check_intra(Reader& reader, const Value& value, const IntraLink& link) {
  const auto under = [&](std::string_view key) { return reader.find(value, key).value_or(value); };
  if (link.generation && *link.generation > newest_generation(link.kind)) {
    reader.fail(under("generation"),
                fmt::format("there is no {} of generation {}; write 1 to {}", name(link.kind),
                            *link.generation, newest_generation(link.kind)));
  }
  if (link.wiring && link.nvswitch.value_or(false)) {
    reader.fail(under("wiring"),
                "says how links go from GPU to GPU, but `switch: true` says that they go to a switch");
  }
}

MapTable<IntraLink> intra_table() {
  return {
      .form = "a map such as `{kind: pcie, generation: 4, lanes: 16}`",
      .rows =
          {
              row("kind", &IntraLink::kind,
                  choice_type<IntraKind>(
                      "link kind", {IntraKind::nvlink, IntraKind::pcie, IntraKind::xgmi, IntraKind::custom}),
                  {.meaning = "What connects the GPUs of a node; `custom` is a link given by numbers, a "
                              "private full-duplex "
                              "one between every pair of ranks.",
                   .required = true}),
              row("generation", &IntraLink::generation, whole_number_type({.min = 1, .max = 6}),
                  {.meaning = "Generation of the link: NVLink 1 to 5, PCIe 1 to 6, xGMI 1 to 4. May be left "
                              "out when `gpu` "
                              "says it.",
                   .kinds = kSpecified}),
              row("links_per_gpu", &IntraLink::links_per_gpu,
                  whole_number_type({.min = 1, .max = kMaxPerRank}),
                  {.meaning = "Links that leave each GPU. May be left out when `gpu` says it.",
                   .kinds = kCables}),
              row("switch", &IntraLink::nvswitch, bool_type(),
                  {.meaning = "Whether all links go to NVSwitches; false = they go from GPU to GPU.",
                   .kinds = kNvlink}),
              row("wiring", &IntraLink::wiring,
                  word_type("wiring", {"full_mesh", "hybrid_cube_mesh", "bridge_pairs"}),
                  {.meaning = "Which GPUs the links join, without a switch.",
                   .default_value = "full_mesh",
                   .kinds = kNvlink}),
              row("lanes", &IntraLink::lanes, lanes_type(),
                  {.meaning = "Width of the slot of each GPU.", .default_value = "16", .kinds = kPcie}),
              row("peer_to_peer", &IntraLink::peer_to_peer, bool_type(),
                  {.meaning = "Whether a GPU writes into another's memory directly; false = every byte "
                              "crosses host memory "
                              "twice.",
                   .kinds = kPcie}),
              row("gpus_per_switch", &IntraLink::gpus_per_switch,
                  whole_number_type({.min = 1, .max = kMaxPerRank}),
                  {.meaning = "GPUs that share one PCIe switch and its way up; left out = each hangs on the "
                              "host bridge "
                              "itself.",
                   .kinds = kPcie}),
              row("sockets", &IntraLink::sockets, whole_number_type({.min = 1, .max = kMaxPerRank}),
                  {.meaning = "CPU sockets over which the GPUs are spread.",
                   .default_value = "1",
                   .kinds = kPcie}),
              row("latency", &IntraLink::latency, time_type(),
                  {.meaning = "α: what a message costs before its first byte arrives.",
                   .required = true,
                   .kinds = kCustom}),
              row("bandwidth", &IntraLink::bandwidth, bandwidth_type(),
                  {.meaning = "1/β: bytes per second in each direction.",
                   .required = true,
                   .kinds = kCustom}),
              row("reduction", &IntraLink::reduction, cost_type(),
                  {.meaning = "γ: what reducing costs per byte.",
                   .default_value = "0 s/B",
                   .kinds = kCustom}),
              row("shared", &IntraLink::shared, bool_type(),
                  {.meaning = "true = one medium for all ranks instead of a private link per pair.",
                   .default_value = "false",
                   .kinds = kCustom}),
          },
      .check = check_intra,
  };
}

// --- Between nodes --------------------------------------------------------------------------------------------------

MapTable<InterLink> inter_table() {
  return {
      .form = "a map such as `{kind: infiniband, rate: 200 Gb/s, nics: 8}`",
      .rows =
          {
              row("kind", &InterLink::kind,
                  choice_type<InterKind>("network kind",
                                         {InterKind::infiniband, InterKind::roce, InterKind::efa,
                                          InterKind::ethernet, InterKind::slingshot, InterKind::custom}),
                  {.meaning = "What connects the nodes; `custom` is a network given by numbers.",
                   .required = true}),
              row("rate", &InterLink::rate, bandwidth_type(),
                  {.meaning = "Data-sheet rate of one NIC, one direction.",
                   .required = true,
                   .kinds = kNetworks}),
              row("nics", &InterLink::nics, whole_number_type({.min = 1, .max = kMaxPerRank}),
                  {.meaning = "NICs per node.", .default_value = "1"}),
              row("gpudirect", &InterLink::gpudirect, bool_type(),
                  {.meaning =
                       "Whether NICs read and write GPU memory directly instead of through host memory.",
                   .kinds = kNetworks}),
              row("oversubscription", &InterLink::oversubscription, factor_type(1),
                  {.meaning = "Uplinks of all nodes over what the fabric carries; 1 = non-blocking.",
                   .default_value = "1"}),
              row("latency", &InterLink::latency, time_type(),
                  {.meaning = "α between nodes.", .required = true, .kinds = kCustom}),
              row("bandwidth", &InterLink::bandwidth, bandwidth_type(),
                  {.meaning = "1/β of one NIC: bytes per second in each direction.",
                   .required = true,
                   .kinds = kCustom}),
          },
  };
}

// --- Explicit links, order, stragglers ------------------------------------------------------------------------------

/// The rank that the end of a link names; nothing for a switch.
std::optional<std::int64_t> rank_of_end(std::string_view end) {
  constexpr std::string_view kPrefix = "rank ";
  if (!end.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string_view digits = end.substr(kPrefix.size());
  std::int64_t rank = 0;
  const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  const bool whole = status == std::errc{} && stop == digits.data() + digits.size();
  return whole && rank >= 0 && rank < kMaxRanks && digits == fmt::format("{}", rank) ? std::optional(rank)
                                                                                     : std::nullopt;
}

/// `rank 3` or the name of a switch. What looks like a misspelt rank is refused: as a switch it would lead nowhere.
ValueType<std::string> link_end_type() {
  ValueType<std::string> type = text_type("`rank 3`, or any other name for a switch");
  type.read = [text_of = type.read](Reader& reader, const Value& value) -> std::optional<std::string> {
    auto text = text_of(reader, value);
    if (!text) {
      return std::nullopt;
    }
    const bool only_digits = text->find_first_not_of("0123456789") == std::string::npos;
    const std::string start = text->substr(0, 4);
    const bool like_rank = (start == "rank" || start == "Rank" || start == "RANK") &&
                           text->find_first_not_of(" -_0123456789", 4) == std::string::npos;
    if (only_digits || (like_rank && !rank_of_end(*text))) {
      reader.fail(value, fmt::format("{} names no rank; write `rank 3` for rank 3", in_quotes(*text)));
      return std::nullopt;
    }
    return text;
  };
  return type;
}

MapTable<LinkSpec> link_table() {
  return {
      .form = "a map such as `{from: rank 0, to: switch, latency: 2 us, bandwidth: 25 GB/s}`",
      .rows =
          {
              row("from", &LinkSpec::from, link_end_type(), {.meaning = "One end.", .required = true}),
              row("to", &LinkSpec::to, link_end_type(), {.meaning = "The other end.", .required = true}),
              row("latency", &LinkSpec::latency, time_type(),
                  {.meaning = "α of a crossing.", .required = true}),
              row("bandwidth", &LinkSpec::bandwidth, bandwidth_type(),
                  {.meaning = "Bytes per second.", .required = true}),
              row("duplex", &LinkSpec::duplex, bool_type(),
                  {.meaning = "Whether each direction has the bandwidth to itself; false = both share it.",
                   .default_value = "true"}),
          },
      .check =
          [](Reader& reader, const Value& value, LinkSpec& link) {
            link.line = value.position.line;
            if (!link.from.empty() && link.from == link.to) {
              reader.fail(value, fmt::format("goes from {} to itself", in_quotes(link.from)));
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
      reader.fail(here, fmt::format("{} and {} are already joined by the link of line {}",
                                    in_quotes(link.from), in_quotes(link.to), first->second));
    }
    for (const std::string& end : {link.from, link.to}) {
      if (gpus && rank_of_end(end).value_or(0) >= *gpus) {
        reader.fail(here, fmt::format("{} does not exist; the machine has {} GPUs", in_quotes(end), *gpus));
      }
    }
  }
}

MapTable<Straggler> straggler_table() {
  return {
      .form = "a map such as `{rank: 3, slowdown: 1.5}`",
      .rows =
          {
              row("rank", &Straggler::rank, rank_type(), {.meaning = "Which rank.", .required = true}),
              row("slowdown", &Straggler::slowdown, factor_type(1),
                  {.meaning = "How many times longer its transfers and reductions take.", .required = true}),
          },
  };
}

void check_stragglers(Reader& reader, const Value& place, const Machine& machine) {
  std::set<Rank> seen;
  for (const Straggler& straggler : machine.stragglers) {
    if (!seen.insert(straggler.rank).second) {
      reader.fail(place, fmt::format("rank {} stands twice in the list", straggler.rank));
    }
    if (const auto gpus = num_gpus(machine); gpus && straggler.rank >= *gpus) {
      reader.fail(place, fmt::format("there is no rank {}; the machine has {} GPUs", straggler.rank, *gpus));
    }
  }
}

void check_ring_order(Reader& reader, const Value& place, const std::vector<Rank>& order) {
  // The entries are distinct: together with the range this makes a permutation.
  const auto missing = std::find_if(
      order.begin(), order.end(), [&](Rank rank) { return rank >= static_cast<std::int64_t>(order.size()); });
  if (missing != order.end()) {
    reader.fail(place, fmt::format("orders {} ranks, so they are 0 to {}, but {} is among them", order.size(),
                                   order.size() - 1, *missing));
  }
}

// --- Measured -------------------------------------------------------------------------------------------------------

/// `points` in ascending order of what `place_of` returns, none twice: curves are read by interpolation.
template <typename V, typename PlaceOf>
ValueType<std::vector<V>> curve_type(const MapTable<V>& point, const std::string& form,
                                     const std::string& order, PlaceOf place_of) {
  ValueType<std::vector<V>> type = list_type(map_type(point), {.form = form});
  type.read = [any = type.read, order, place_of](Reader& reader, const Value& value) {
    auto points = any(reader, value);
    const auto descending = [&](const V& a, const V& b) { return !(place_of(a) < place_of(b)); };
    if (points && std::adjacent_find(points->begin(), points->end(), descending) != points->end()) {
      reader.fail(value, fmt::format("must ascend: {}", order));
      points.reset();
    }
    return points;
  };
  return type;
}

MapTable<TransferPoint> transfer_table() {
  return {.form = "a map such as `{bytes: 4 KiB, seconds: 12 us}`",
          .rows = {row("bytes", &TransferPoint::bytes, size_type(),
                       {.meaning = "Size of the message.", .required = true}),
                   row("seconds", &TransferPoint::seconds, time_type(Zero::refused),
                       {.meaning = "What it takes, one way.", .required = true})}};
}

MapTable<ShiftPoint> shift_table() {
  return {.form = "a map such as `{ranks: 4, bytes: 4 KiB, seconds: 20 us}`",
          .rows = {row("ranks", &ShiftPoint::ranks, whole_number_type({.min = 2, .max = kMaxRanks}),
                       {.meaning = "How many ranks send to their neighbour at once.", .required = true}),
                   row("bytes", &ShiftPoint::bytes, size_type(),
                       {.meaning = "Size of each message.", .required = true}),
                   row("seconds", &ShiftPoint::seconds, time_type(Zero::refused),
                       {.meaning = "Until all have arrived.", .required = true})}};
}

MapTable<ReductionPoint> reduction_table() {
  return {.form = "a map such as `{bytes: 64 KiB, cost: 0.1 ns/B}`",
          .rows = {row("bytes", &ReductionPoint::bytes, size_type(),
                       {.meaning = "Size of the operand.", .required = true}),
                   row("cost", &ReductionPoint::cost, cost_type(),
                       {.meaning = "γ at this size.", .required = true})}};
}

MapTable<Calibrated> calibrated_table() {
  return {
      .form = "a map such as `{latency: 12 us, bandwidth: 3 GB/s, reduction: 0.1 ns/B}`",
      .rows =
          {
              row("backend", &Calibrated::backend, text_type("a transport such as `gloo`"),
                  {.meaning = "Transport that was probed."}),
              row("cores", &Calibrated::cores, whole_number_type({.min = 1, .max = 65536}),
                  {.meaning = "CPU cores that all ranks share; left out = nothing is shared."}),
              row("latency", &Calibrated::latency, time_type(),
                  {.meaning = "α of a message between two ranks.", .required = true}),
              row("latency_interval", &Calibrated::latency_interval,
                  interval_type(time_type(), "[9.8 us, 10.4 us]"),
                  {.meaning = "95 % interval of the latency."}),
              row("bandwidth", &Calibrated::bandwidth, bandwidth_type(),
                  {.meaning = "1/β between two ranks.", .required = true}),
              row("bandwidth_interval", &Calibrated::bandwidth_interval,
                  interval_type(bandwidth_type(Zero::allowed), "[9.7 GB/s, 10.2 GB/s]"),
                  {.meaning = "95 % interval of the bandwidth."}),
              row("reduction", &Calibrated::reduction, cost_type(),
                  {.meaning = "γ of a rank.", .required = true}),
              row("reduction_interval", &Calibrated::reduction_interval,
                  interval_type(cost_type(), "[0.09 ns/B, 0.11 ns/B]"),
                  {.meaning = "95 % interval of the reduction cost."}),
              row("transfers", &Calibrated::transfers,
                  curve_type(transfer_table(), "a list of maps such as `{bytes: 4 KiB, seconds: 12 us}`",
                             "each size once, small ones first",
                             [](const TransferPoint& p) { return p.bytes; }),
                  {.meaning = "Time of one message alone, by size."}),
              row("shifts", &Calibrated::shifts,
                  curve_type(shift_table(),
                             "a list of maps such as `{ranks: 4, bytes: 4 KiB, seconds: 20 us}`",
                             "by ranks and then by size, each once",
                             [](const ShiftPoint& p) { return std::pair(p.ranks, p.bytes); }),
                  {.meaning =
                       "Time of messages of all ranks to their neighbours at once, by ranks and size."}),
              row("reductions", &Calibrated::reductions,
                  curve_type(reduction_table(), "a list of maps such as `{bytes: 64 KiB, cost: 0.1 ns/B}`",
                             "each size once, small ones first",
                             [](const ReductionPoint& p) { return p.bytes; }),
                  {.meaning = "Reduction cost by size of the operand."}),
          },
      .on_one_line = false,
  };
}

/// `p2p: {…}` of `known`.
MapTable<Known> known_transfer_table() {
  return {.form = "a map such as `{bandwidth: 12 GB/s}`",
          .rows = {row("bandwidth", &Known::bandwidth, bandwidth_type(),
                       {.meaning = "Measured between two ranks with nothing else going on."}),
                   row("latency", &Known::latency, time_type(),
                       {.meaning = "Measured for a small message between two ranks."})},
          .check = [](Reader& reader, const Value& value, Known&) {
            if (!reader.find(value, "bandwidth") && !reader.find(value, "latency")) {
              reader.fail(value, "says nothing; write `bandwidth`, `latency` or both");
            }
          }};
}

/// `native: {…}` of `known`, and likewise for any algorithm.
MapTable<Known> known_all_reduce_table() {
  return {
      .form = "a map such as `{ranks: 2, bytes: 1 GiB, seconds: 95 ms}`",
      .rows = {row("ranks", &Known::ranks, whole_number_type({.min = 2, .max = kMaxRanks}),
                   {.meaning = "Number of ranks of the measured all_reduce.", .required = true}),
               row("bytes", &Known::bytes, size_type(), {.meaning = "Its message size.", .required = true}),
               row("seconds", &Known::seconds, time_type(Zero::refused),
                   {.meaning = "What it took.", .required = true})}};
}

constexpr std::string_view kKnownForm =
    "a map such as `{native: {ranks: 2, bytes: 1 GiB, seconds: 95 ms}}` or `{p2p: {bandwidth: 12 GB/s}}`";

std::optional<Known> read_known(Reader& reader, const Value& value) {
  if (!value.node.IsMap() || value.node.size() != 1 || !value.node.begin()->first.IsScalar()) {
    reader.fail(value, fmt::format("is {}{}; write {}", shape(value.node),
                                   value.node.IsMap() ? fmt::format(" of {} keys", value.node.size()) : "",
                                   kKnownForm));
    return std::nullopt;
  }
  const auto entry = *value.node.begin();
  const std::string what = entry.first.Scalar();
  const Value inner = reader.at(value, entry.first, entry.second);
  if (what == "p2p") {
    return read_map(reader, inner, known_transfer_table());
  }
  std::vector<std::string> names(reader.algorithms().begin(), reader.algorithms().end());
  if (names.empty() && nearest_name(what, std::vector<std::string>{"native", "p2p"}) && what != "native") {
    names = {"native"};  // Without a registry at hand, at least these two are not misspelt.
  }
  if (!names.empty() && std::count(names.begin(), names.end(), what) == 0) {
    names.emplace_back("p2p");
    reader.fail(inner, unknown_name("algorithm", what, names));
    return std::nullopt;
  }
  auto known = read_map(reader, inner, known_all_reduce_table());
  if (known) {
    known->algorithm = what;
  }
  return known;
}

ValueType<Known> known_type() {
  const auto below = [](std::string prefix, std::vector<KeyDescription> keys, std::string meaning,
                        std::string form) {
    keys.insert(keys.begin(),
                KeyDescription{.path = "", .meaning = std::move(meaning), .form = std::move(form)});
    for (KeyDescription& key : keys) {
      key.path = key.path.empty() ? prefix : prefix + "." + key.path;
    }
    return keys;
  };
  std::vector<KeyDescription> keys = below("native", keys_of(known_all_reduce_table()),
                                           "An all_reduce that somebody measured on this machine: the "
                                           "backend's own, or under the name of an algorithm.",
                                           known_all_reduce_table().form);
  const std::vector<KeyDescription> transfer = below(
      "p2p", keys_of(known_transfer_table()),
      "A transfer between two ranks that somebody measured on this machine.", known_transfer_table().form);
  keys.insert(keys.end(), transfer.begin(), transfer.end());
  return {.form = std::string(kKnownForm),
          .below = keys,
          .read = read_known,
          .write = [](YAML::Emitter& out, const Known& known) {
            out << YAML::Flow << YAML::BeginMap << YAML::Key << known.algorithm.value_or("p2p")
                << YAML::Value;
            write_map(out, known, known.algorithm ? known_all_reduce_table() : known_transfer_table());
            out << YAML::EndMap;
          }};
}

// --- Software and price ---------------------------------------------------------------------------------------------

MapTable<Software> software_table() {
  return {
      .form = "a map such as `{nccl: 2.18.3}`",
      .rows =
          {
              row("nccl", &Software::nccl, text_type("a version such as `2.18.3`"),
                  {.meaning = "Version of NCCL or RCCL."}),
              // The words of NCCL_ALGO and NCCL_PROTO (NCCL user guide, "Environment Variables").
              row("nccl_algo", &Software::nccl_algo,
                  word_type("NCCL algorithm",
                            {"Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT"}),
                  {.meaning = "Algorithm that NCCL is forced to use (NCCL_ALGO); left out = it chooses."}),
              row("nccl_proto", &Software::nccl_proto, word_type("NCCL protocol", {"LL", "LL128", "Simple"}),
                  {.meaning = "Protocol that NCCL is forced to use (NCCL_PROTO); left out = it chooses."}),
              row("processes", &Software::processes,
                  choice_type<Processes>("way to start processes", {Processes::per_gpu, Processes::single}),
                  {.meaning = "One process per GPU, or a single one that drives all GPUs of a node."}),
          },
  };
}

struct Amount {
  double number = 0;
  std::string currency;
};

/// `32.77 USD`
std::optional<Amount> amount_in(std::string_view text) {
  Amount amount;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), amount.number);
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const bool currency =
      unit.size() == 3 && std::all_of(unit.begin(), unit.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (status != std::errc{} || !currency || !std::isfinite(amount.number) || amount.number < 0) {
    return std::nullopt;
  }
  amount.currency = unit;
  return amount;
}

/// `2026-11-01`, `2026-11` or `2026`.
bool is_date(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-dd";
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !digit : text[i] != '-') {
      return false;
    }
  }
  const auto within = [&](std::size_t at, std::string_view max) {
    return text.size() <= at || (text.substr(at, 2) >= "01" && text.substr(at, 2) <= max);
  };
  return within(5, "12") && within(8, "31");
}

MapTable<Price> price_table() {
  const std::string amount_form = "an amount and its currency such as `32.77 USD`";
  const std::string date_form = "a date such as `2026-11-01`";
  // One key, two members.
  Row<Price> per_hour = {
      .key = {.path = "per_hour",
              .meaning = "Price of the whole machine for an hour.",
              .form = amount_form,
              .required = true},
      .below = {},
      .read =
          [amount_form](Reader& reader, const Value& value, Price& price) {
            const auto text = reader.scalar(value, amount_form);
            const auto amount = text ? amount_in(*text) : std::nullopt;
            if (text && !amount) {
              reader.fail(value, fmt::format("{} is not {}", in_quotes(*text), amount_form));
            } else if (amount) {
              price.per_hour = amount->number;
              price.currency = amount->currency;
            }
          },
      .given = [](const Price&) { return true; },
      .write = [](YAML::Emitter& out,
                  const Price& price) { out << fmt::format("{} {}", price.per_hour, price.currency); },
  };
  ValueType<std::string> date = text_type(date_form);
  date.read = [text_of = date.read, date_form](Reader& reader, const Value& value) {
    auto text = text_of(reader, value);
    if (text && !is_date(*text)) {
      reader.fail(value, fmt::format("{} is not {}", in_quotes(*text), date_form));
      text.reset();
    }
    return text;
  };
  return {.form = "a map such as `{per_hour: 32.77 USD, as_of: 2026-11-01}`",
          .rows = {per_hour, row("as_of", &Price::as_of, date,
                                 {.meaning = "When the price was listed; a month or a year will do."})}};
}

// --- The machine ----------------------------------------------------------------------------------------------------

void check_machine(Reader& reader, const Value& value, Machine& machine) {
  const auto under = [&](std::string_view key) { return reader.find(value, key).value_or(value); };
  const bool within = reader.find(value, "intra").has_value();
  const bool between = reader.find(value, "inter").has_value();
  const bool explicit_links = reader.find(value, "links").has_value();
  if (!within && !between && !explicit_links && !reader.find(value, "calibrated")) {
    reader.fail(
        value,
        "says nothing of its links; write `intra` (inside a node), `inter` (between nodes), `links` or "
        "`calibrated`");
  }
  if (machine.nodes > 1 && !between && !explicit_links) {
    reader.fail(under("nodes"),
                fmt::format("is {}, so write `inter`, what connects the nodes", machine.nodes));
  }
  if (machine.intra && machine.intra->kind != IntraKind::custom && !machine.intra->generation &&
      !reader.find(value, "gpu")) {
    reader.fail(under("intra"), "has no `generation`, and no `gpu` says it");
  }
  check_links(reader, under("links"), machine);
  check_stragglers(reader, under("stragglers"), machine);
  if (machine.ring_order) {
    check_ring_order(reader, under("ring_order"), *machine.ring_order);
  }
}

}  // namespace

MapTable<Machine> machine_table() {
  return {
      .form = "a map such as `{intra: {kind: pcie, generation: 4}}`",
      .rows =
          {
              row("name", &Machine::name, text_type("a name such as `2 x 8 A100`"),
                  {.meaning = "What tables and charts call the machine; the file's name when left out."}),
              row("nodes", &Machine::nodes, whole_number_type({.min = 1, .max = kMaxRanks}),
                  {.meaning = "Number of nodes.", .default_value = "1"}),
              row("gpus_per_node", &Machine::gpus_per_node, whole_number_type({.min = 1, .max = kMaxRanks}),
                  {.meaning =
                       "GPUs of each node, one rank each; left out = as many as the scenario's ranks need."}),
              row("gpu", &Machine::gpu, map_type(gpu_table()), {.meaning = "The GPUs, all alike."}),
              row("intra", &Machine::intra, map_type(intra_table()),
                  {.meaning = "How the ranks of one node reach each other."}),
              row("inter", &Machine::inter, map_type(inter_table()),
                  {.meaning = "How nodes reach each other; needed with more than one node."}),
              row("links", &Machine::links,
                  list_type(map_type(link_table()), {.form = "a list of maps such as `{from: rank 0, to: "
                                                             "switch, latency: 2 us, bandwidth: 25 GB/s}`"}),
                  {.meaning = "Explicit links, for what `intra` and `inter` cannot say."}),
              row("ring_order", &Machine::ring_order,
                  list_type(rank_type(), {.form = "a list of ranks such as `[0, 2, 1, 3]`",
                                          .distinct = true,
                                          .on_one_line = true}),
                  {.meaning = "The order in which ranks stand in a ring; left out = the best is chosen."}),
              row("stragglers", &Machine::stragglers,
                  list_type(map_type(straggler_table()),
                            {.form = "a list of maps such as `{rank: 3, slowdown: 1.5}`"}),
                  {.meaning = "Ranks that are slower than the others."}),
              row("calibrated", &Machine::calibrated, map_type(calibrated_table()),
                  {.meaning = "What `calibrate` measured with point-to-point probes; counts more than any "
                              "specification."}),
              row("known", &Machine::known,
                  list_type(known_type(), {.form = fmt::format("a list; each entry is {}", kKnownForm)}),
                  {.meaning =
                       "Numbers that somebody measured on this very machine; they sharpen predictions."}),
              row("software", &Machine::software, map_type(software_table()),
                  {.meaning = "What runs on it, as far as it changes the native all_reduce."}),
              row("price", &Machine::price, map_type(price_table()), {.meaning = "What it costs to rent."}),
          },
      .check = check_machine,
      .on_one_line = false,
  };
}

}  // namespace ringside
