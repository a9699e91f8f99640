#include <map>
#include <utility>

#include <fmt/format.h>

#include "scenario/machine/machine_file.hpp"
#include "scenario/machine/named_machine.hpp"
#include "scenario/plan/plan_parts.hpp"
#include "scenario/plan/plan_values.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMaxOffers = 100'000;

/// An offer while it is read; zero GPUs = all of the machine.
struct OfferDraft : Offer {
  std::optional<Value> machine_value;
  std::optional<Price> price;
};

MapTable<OfferDraft> offer_table() {
  return {.form = "a map such as `{machine: ../machines/8x-a100-nvswitch.yaml, price: {per_hour: 12 USD}}`",
          .rows = {row<&OfferDraft::name, OfferDraft>(text_type("a name such as `4 × RTX 3090`")),
                   later("machine", &OfferDraft::machine_value, machine_form(), {.required = true}),
                   row<&OfferDraft::gpus, OfferDraft>(whole_number_type({.min = 1, .max = kMaxRanks})),
                   row<&OfferDraft::price>(map_type(price_table())),
                   row<&OfferDraft::minimum, OfferDraft>(duration_type()),
                   row<&OfferDraft::interruptible, OfferDraft>(bool_type(), {.default_value = "false"})}};
}

using MachinesFolder = std::optional<std::filesystem::path>;

/// Machines that offers named before: a listing names few machines thousands of times.
using NamedMachines = std::map<std::string, Machine>;

std::optional<Machine> read_offered_machine(Reader& reader, const Value& value,
                                            const MachinesFolder& machines, NamedMachines& known) {
  if (!value.node.IsScalar()) {
    return value.node.IsMap()
               ? read_machine(reader, value, std::filesystem::path(reader.file()).stem().string())
               : read_named_machine(reader, value, machines);
  }
  if (value.node.Scalar() == "this") {
    reader.fail(value, "`this` machine is not on offer; name another one");
    return std::nullopt;
  }
  if (const auto found = known.find(value.node.Scalar()); found != known.end()) {
    return found->second;
  }
  auto machine = read_named_machine(reader, value, machines);
  if (machine) {
    known.emplace(value.node.Scalar(), *machine);
  }
  return machine;
}

std::optional<Offer> read_offer(Reader& reader, const Value& value, const MapTable<OfferDraft>& table,
                                const MachinesFolder& machines, NamedMachines& known) {
  auto offer = read_map(reader, value, table);
  auto machine = offer ? read_offered_machine(reader, *offer->machine_value, machines, known) : std::nullopt;
  if (!machine) {
    return std::nullopt;
  }
  const auto gpus = num_gpus(*machine);
  if (gpus && offer->gpus > *gpus) {
    reader.fail(value, "{} GPUs cannot be rented of a machine that has {}", offer->gpus, *gpus);
    return std::nullopt;
  }
  if (offer->gpus == 0 && !gpus) {
    reader.fail(value, "says no number of GPUs; write `gpus`, or `gpus_per_node` in the machine");
    return std::nullopt;
  }
  offer->name = offer->name.empty() ? machine->name : offer->name;
  offer->source = reader.file();
  offer->gpus = offer->gpus > 0 ? offer->gpus : static_cast<int>(*gpus);
  if (const auto& price = offer->price ? offer->price : machine->price) {
    offer->per_hour = Money{.amount = price->per_hour, .currency = price->currency};
    offer->as_of = price->as_of;
  }
  offer->machine = *std::move(machine);
  return *std::move(offer);
}

struct OffersDraft {
  std::optional<Value> offers;
};

}  // namespace

std::string offers_form() { return "a list of maps such as `{machine: …, price: {per_hour: 2 USD}}`"; }

std::vector<Offer> read_offers(Reader& reader, const Value& list, const MachinesFolder& machines) {
  if (!list.node.IsSequence() || list.node.size() == 0 || list.node.size() > kMaxOffers) {
    reader.fail(list, "{}; write {}",
                !list.node.IsSequence() ? fmt::format("is {}", shape(list.node))
                : list.node.size() == 0 ? "is an empty list"
                                        : fmt::format("has more than {} entries", kMaxOffers),
                offers_form());
    return {};
  }
  const MapTable<OfferDraft> table = offer_table();
  NamedMachines known;
  std::vector<Offer> offers;
  for (const Value& item : reader.items(list)) {
    if (auto offer = read_offer(reader, item, table, machines, known)) {
      offers.push_back(std::move(*offer));
    }
  }
  return offers;
}

std::vector<KeyDescription> offer_keys() { return keys_of(offer_table()); }

Machine machine_named(const std::string& name, const std::filesystem::path& origin, const KnownNames& known) {
  std::vector<Problem> problems;
  const auto document = parse_document(origin.string(), fmt::format("{{machine: \"{}\"}}", name), problems);
  std::optional<Machine> machine;
  if (document) {
    Reader reader(*document, problems);
    machine = read_named_machine(reader, *reader.find(reader.root(), "machine"), known.machines);
  }
  if (!machine) {
    for (Problem& problem : problems) {
      problem.position = {};  // The user wrote a name and no file.
      problem.key.clear();
    }
    throw_problems(std::move(problems));
  }
  return std::move(*machine);
}

std::vector<Offer> load_offers(const std::filesystem::path& file, const KnownNames& known) {
  const MapTable<OffersDraft> table{
      .form = "a map with the key `offers`",
      .rows = {later<&OffersDraft::offers>(offers_form(), {.required = true}, offer_keys())}};
  const auto read = [&](Reader& reader) {
    const auto draft = read_map(reader, reader.root(), table);
    return draft ? read_offers(reader, *draft->offers, known.machines) : std::vector<Offer>{};
  };
  std::vector<Problem> problems;
  return read_whole(read_document(file, file.string(), problems), problems, read,
                    known.algorithms(Collective::all_reduce));
}

}  // namespace ringside
