#include "study/inputs/named_offers.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>

#include <fmt/ranges.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/names.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "import/offer_machine.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/plan/plan.hpp"
#include "sim/topology/gpu_models.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

/// Parts between commas; none is empty.
std::vector<std::string> parts_of(const std::string& flag, const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) {
    parts.emplace_back(trimmed(part));
    if (parts.back().empty()) {
      reject_part(flag, text, "has an empty part; write machines such as '4x3090,8x4090,p4d.24xlarge'");
    }
  }
  return parts;
}

std::vector<std::string> machine_names() {
  return mapped(shipped_configs("machines"), [](const fs::path& file) { return file.stem().string(); });
}

bool is_machine(const std::string& text, const std::vector<std::string>& names) {
  std::error_code ignored;
  return fs::is_regular_file(text, ignored) || name_of_machine(text, names);
}

/// Shipped machines with this GPU and a price: the lowest price of one GPU.
void take_listed_price(NamedOffer& offer) {
  double least = 0;
  const Machine* cheapest = nullptr;
  for (const ShippedMachine& shipped : shipped_machines()) {
    const Machine& machine = shipped.machine;
    const auto gpus = num_gpus(machine);
    if (!machine.price || !gpus || !shipped.gpu || shipped.gpu->model != offer.machine.gpu->model) {
      continue;
    }
    const double each = machine.price->per_hour / static_cast<double>(*gpus);
    if (cheapest == nullptr || each < least) {
      least = each;
      cheapest = &machine;
    }
  }
  if (cheapest == nullptr) {
    offer.assumptions.push_back(
        fmt::format("Its price is not known; `{} @ 1.50 USD` in --gpus says it.", offer.text));
    return;
  }
  const double price = std::round(100 * least * offer.gpus) / 100;
  offer.price =
      fmt::format("{{per_hour: {:.2f} {}{}}}", price, cheapest->price->currency,
                  cheapest->price->as_of ? fmt::format(", as_of: {}", *cheapest->price->as_of) : "");
  offer.assumptions.push_back(fmt::format("{} costs {:.2f} {} an hour, like {}; `{} @ …` sets another price.",
                                          offer.machine.gpu->model, least, cheapest->price->currency,
                                          cheapest->name, offer.text));
}

/// The most GPUs of this model in a node: boards of 8, 16 V100 in a DGX-2, 72 in an NVLink rack.
int most_of_a_node(const Offer& listed, const GpuSheet& sheet) {
  constexpr int kBoard = 8;
  constexpr int kDgx2 = 16;
  constexpr int kRack = 72;
  constexpr int kSlots = 10;
  if (sheet.model == "GB10") {
    return 1;  // It is on the board of its computer.
  }
  if (listed.machine.intra->kind == IntraKind::pcie || listed.machine.intra->wiring == "bridge_pairs") {
    return kSlots;
  }
  const bool rack = sheet.model.starts_with("GB");
  return rack ? kRack : sheet.architecture == Architecture::volta ? kDgx2 : kBoard;
}

/// The cheapest machine with this GPU and a network, per GPU; `per_node`: that many of them. Or empty.
std::string networked_machine(const GpuSheet& sheet, std::optional<int> per_node, int& gpus_of_it) {
  std::string cheapest;
  double least = std::numeric_limits<double>::infinity();
  for (const ShippedMachine& shipped : shipped_machines()) {
    const Machine& machine = shipped.machine;
    if (!shipped.gpu || shipped.gpu->model != sheet.model || !machine.inter || machine.nodes != 1 ||
        !machine.gpus_per_node || (per_node && *per_node != *machine.gpus_per_node)) {
      continue;
    }
    const double each = (machine.price ? machine.price->per_hour : 1e6) / *machine.gpus_per_node;
    if (each < least) {
      least = each;
      cheapest = shipped.name;
      gpus_of_it = *machine.gpus_per_node;
    }
  }
  return cheapest;
}

/// `'2 x p5.48xlarge', or `: nodes of such a machine that have this many GPUs together.
std::string nodes_with(const GpuSheet& sheet, int gpus) {
  int each = 1;
  const std::string machine = networked_machine(sheet, {}, each);
  return machine.empty() ? "" : fmt::format("'{} x {}', or ", (gpus + each - 1) / each, machine);
}

/// `2x8xL40S`: nodes of a machine that is for rent with so many, because their network is not said.
Counted nodes_of(const std::string& text, const Counted& nodes, NamedOffer& offer) {
  const Counted inner = counted(nodes.what);
  const auto sheet = find_gpu_sheet(inner.what);
  if (!sheet || inner.what == nodes.what) {
    return nodes;
  }
  int each = 1;
  const std::string machine = networked_machine(*sheet, inner.count, each);
  if (machine.empty()) {
    reject_part("--gpus", text,
                "no machine here has {} {} on a node and says its network; write a machine file with "
                "`nodes` and `inter`",
                inner.count, sheet->model);
  }
  offer.assumptions.push_back(
      fmt::format("Its nodes and network are those of {}, the cheapest known; `{} x NAME` names others.",
                  machine, nodes.count));
  return {.count = nodes.count, .what = machine};
}

/// GPUs on the board or in the slots that they are made for.
void describe_board(const Counted& gpus, const std::optional<std::string>& bandwidth, NamedOffer& offer) {
  const auto sheet = find_gpu_sheet(gpus.what);
  Offer listed;
  describe_machine({.name = sheet->model, .rented = gpus.count, .in_machine = gpus.count}, listed);
  if (const int most = most_of_a_node(listed, *sheet); gpus.count > most) {
    reject_part("--gpus", offer.text,
                "one node has at most {} {}; say which nodes, and so their network: {}a machine "
                "file with `nodes` and `inter`",
                most, sheet->model, nodes_with(*sheet, gpus.count));
  }
  offer.name = fmt::format("{} × {}", gpus.count, sheet->model);
  if (std::vector<std::string> meant = gpu_models_called(gpus.what); meant.size() > 1) {
    meant.erase(meant.begin());
    offer.assumptions.push_back(fmt::format("{} is taken for {}; there are also {}.", gpus.what, sheet->model,
                                            fmt::join(meant, ", ")));
  }
  offer.gpus = gpus.count;
  offer.machine = listed.machine;
  if (gpus.count > 1 && *listed.machine.gpus_per_node != gpus.count) {
    offer.assumptions.push_back(
        fmt::format("The {} {} are neighbours on a board of {}, which have fewer links among "
                    "them than all of it.",
                    gpus.count, sheet->model, *listed.machine.gpus_per_node));
  }
  IntraLink& intra = *offer.machine.intra;
  if (bandwidth && intra.kind == IntraKind::pcie) {
    try {
      intra.bandwidth = parse_bandwidth(*bandwidth);
    } catch (const Error& error) {
      reject_part("--bandwidth", *bandwidth, error.what());
    }
  }
  if (!offer.price) {
    take_listed_price(offer);
  }
}

/// `16 USD` of `16 USD/h` and `16 USD per hour`.
std::string_view without_hour(std::string_view price) {
  for (const std::string_view hour : {"/h", "/hr", "/hour", "/ hour", "per hour", "an hour"}) {
    if (price.ends_with(hour)) {
      return trimmed(price.substr(0, price.size() - hour.size()));
    }
  }
  return price;
}

NamedOffer read_part(const std::string& part, const std::optional<std::string>& bandwidth,
                     const KnownNames& known, const std::vector<std::string>& names) {
  NamedOffer offer;
  const std::size_t at = part.find('@');
  offer.text = trimmed(std::string_view(part).substr(0, at));
  if (at != std::string::npos) {
    const auto money = parse_money(without_hour(trimmed(std::string_view(part).substr(at + 1))));
    if (!money || !(money->amount > 0)) {
      reject_part("--gpus", part, "after `@` stands the price of an hour, such as `0.67 USD`");
    }
    offer.price = fmt::format("{{per_hour: {} {}}}", money->amount, money->currency);
  }
  const Counted gpus = nodes_of(offer.text, counted(offer.text), offer);
  const bool named = is_machine(offer.text, names);
  if (!named && find_gpu_sheet(gpus.what)) {
    describe_board(gpus, bandwidth, offer);
    return offer;
  }
  if (!named && !is_machine(gpus.what, names)) {
    std::vector<std::string> all = gpu_model_names();
    all.insert(all.end(), names.begin(), names.end());
    const auto part_of = std::ranges::find_if(all, [&](const std::string& name) {
      return gpus.what.size() > 2 && lower(name).find(lower(gpus.what)) != std::string::npos;
    });
    const std::optional<std::string> near =
        part_of != all.end() ? std::optional(*part_of) : nearest_name(gpus.what, all);
    reject_part("--gpus", offer.text,
                "unknown GPU or machine '{}'{} `ringside list machines` has the {} machines and "
                "their GPUs, and a machine file is taken, too",
                gpus.what, near ? fmt::format("; did you mean '{}'?", *near) : ";", names.size());
  }
  std::error_code ignored;
  offer.reference = named ? offer.text : fmt::format("{} x {}", gpus.count, gpus.what);
  if (fs::is_regular_file(*offer.reference, ignored)) {
    offer.reference = fs::absolute(*offer.reference).string();
  }
  try {
    offer.machine = machine_named(*offer.reference, "--gpus", known);
  } catch (const Error& error) {
    reject_part("--gpus", offer.text, error.what());
  }
  offer.name = offer.machine.name;
  const auto number = num_gpus(offer.machine);
  if (!number) {
    reject_part("--gpus", offer.text, "the machine says no number of GPUs");
  }
  offer.gpus = static_cast<int>(*number);
  return offer;
}

void add_known(std::vector<KnownPart>& parts, NamedOffer& offer) {
  for (KnownPart& part : parts) {
    const Counted asked = counted(part.of);
    const auto sheet = find_gpu_sheet(asked.what);
    const auto own = find_gpu_sheet(offer.machine);
    const bool of_gpus = sheet && own && own->model == sheet->model;
    if (part.samples_per_second) {
      part.used = part.used || of_gpus;
      continue;
    }
    // compare(): GCC 12 takes the comparison of two temporaries for one beyond their end.
    const bool meant = lower(part.of).compare(lower(offer.text)) == 0 || part.of == offer.name ||
                       (!offer.reference && of_gpus && asked.count == offer.gpus);
    if (meant) {
      part.used = true;
      Known known = *part.all_reduce;
      known.ranks = offer.gpus;
      offer.machine.known.push_back(known);
      if (offer.reference && !offer.price && offer.machine.price) {
        offer.price =
            fmt::format("{{per_hour: {} {}}}", offer.machine.price->per_hour, offer.machine.price->currency);
      }
      offer.reference.reset();
    }
  }
}

}  // namespace

void reject_part(const std::string& flag, const std::string& text, const std::string& what) {
  throw bad_input("{} '{}': {}", flag, text, what);
}

Counted counted(const std::string& text) {
  if (find_gpu_sheet(text)) {
    return {.count = 1, .what = text};  // 7900XTX is no number of TX.
  }
  std::string_view rest = text;
  const std::optional<int> count = take_number<int>(rest);
  const std::string_view after = trimmed(rest);
  for (const std::string_view times : {"x", "X", "×", "*"}) {
    if (count && *count >= 1 && *count <= kMaxRanks && after.starts_with(times)) {
      return {.count = *count, .what = std::string(trimmed(after.substr(times.size())))};
    }
  }
  return {.count = 1, .what = text};
}

KnownPart read_known_part(const std::string& text) {
  constexpr std::string_view kForm =
      "is neither a GPU's speed such as '3090: 568 samples/s' nor a machine's all_reduce such as '4x3090: 88 "
      "MB in 15 ms'";
  KnownPart part{.text = text};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    reject_part("--known", text, std::string(kForm));
  }
  part.of = trimmed(std::string_view(text).substr(0, colon));
  const std::string_view value = trimmed(std::string_view(text).substr(colon + 1));
  constexpr std::string_view kUnit = "samples/s";
  constexpr std::string_view kIn = " in ";
  if (value.ends_with(kUnit)) {
    part.samples_per_second = parse_number<double>(trimmed(value.substr(0, value.size() - kUnit.size())));
    if (!part.samples_per_second || !(*part.samples_per_second > 0)) {
      reject_part("--known", text, std::string(kForm));
    }
    return part;
  }
  const std::size_t in = value.find(kIn);
  if (in == std::string::npos) {
    reject_part("--known", text, std::string(kForm));
  }
  try {
    part.all_reduce = Known{.algorithm = "native",
                            .bytes = parse_bytes(trimmed(value.substr(0, in))),
                            .seconds = parse_seconds(trimmed(value.substr(in + kIn.size())))};
  } catch (const Error& error) {
    reject_part("--known", text, error.what());
  }
  return part;
}

std::vector<NamedOffer> named_offers(const std::string& gpus, const std::optional<std::string>& bandwidth,
                                     std::vector<KnownPart>& known_parts, const KnownNames& known) {
  const std::vector<std::string> names = machine_names();
  std::vector<NamedOffer> offers;
  for (const std::string& part : parts_of("--gpus", gpus)) {
    offers.push_back(read_part(part, bandwidth, known, names));
    add_known(known_parts, offers.back());
  }
  const bool slots = std::ranges::any_of(offers, [](const NamedOffer& offer) {
    return offer.machine.intra && offer.machine.intra->bandwidth.has_value();
  });
  if (bandwidth && !slots) {
    reject_part("--bandwidth", *bandwidth, "--gpus names no GPUs in PCIe slots, such as 4x3090");
  }
  return offers;
}

}  // namespace ringside::study
