#include "scenario/machine/machine_file.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "common/error.hpp"
#include "scenario/keys.hpp"
#include "scenario/plan/money.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

std::vector<std::string> algorithms_of(const KnownNames& known) {
  return known.algorithms == nullptr ? std::vector<std::string>{} : known.algorithms(Collective::all_reduce);
}

/// Twice the largest NVLink domain that has been announced (576 GPUs); links are described one by one.
constexpr int kMaxGpusPerNode = 1152;

MapTable<Gpu> gpu_table() {
  return {.form = "a map such as `{model: A100-SXM4-80GB}`",
          .rows = {row<&Gpu::model>(text_type("a GPU model such as `A100-SXM4-80GB`"), {.required = true}),
                   row<&Gpu::vendor>(choice_type<Vendor>("vendor")),
                   row<&Gpu::architecture>(choice_type<Architecture>("architecture")),
                   row<&Gpu::memory_bandwidth>(bandwidth_type())}};
}

MapTable<Cpu> cpu_table() {
  return {.form = "a map such as `{vendor: amd, model: EPYC 7763}`",
          .rows = {row<&Cpu::vendor>(choice_type<CpuVendor>("vendor of CPUs")),
                   row<&Cpu::model>(text_type("a CPU model such as `EPYC 7763`"))}};
}

// --- Ranks -------------------------------------------------------------------------------------------------

MapTable<Straggler> straggler_table() {
  return {
      .form = "a map such as `{rank: 3, slowdown: 1.5}`",
      .rows =
          {
              row<&Straggler::rank>(whole_number_type({.min = 0, .max = kMaxRanks - 1}), {.required = true}),
              row<&Straggler::slowdown>(factor_type(1), {.required = true}),
          },
  };
}

void check_stragglers(Reader& reader, const Value& place, const Machine& machine) {
  std::set<Rank> seen;
  for (const Straggler& straggler : machine.stragglers) {
    if (!seen.insert(straggler.rank).second) {
      reader.fail(place, "rank {} stands twice in the list", straggler.rank);
    }
    if (const auto gpus = num_gpus(machine); gpus && straggler.rank >= *gpus) {
      reader.fail(place, "there is no rank {}; the machine has {} GPUs", straggler.rank, *gpus);
    }
  }
}

void check_ring_order(Reader& reader, const Value& place, const std::vector<Rank>& order) {
  // The entries are distinct: together with the range this makes a permutation.
  const auto missing =
      std::ranges::find_if(order, [&](Rank rank) { return rank >= static_cast<std::int64_t>(order.size()); });
  if (missing != order.end()) {
    reader.fail(place, "orders {} ranks, so they are 0 to {}, but {} is among them", order.size(),
                order.size() - 1, *missing);
  }
}

// --- Price -------------------------------------------------------------------------------------------------

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

// --- The machine -------------------------------------------------------------------------------------------

void check_machine(Reader& reader, const Value& value, Machine& machine) {
  const auto under = [&](std::string_view key) { return reader.find(value, key).value_or(value); };
  const bool within = reader.find(value, "intra").has_value();
  const bool between = reader.find(value, "inter").has_value();
  const bool explicit_links = reader.find(value, "links").has_value();
  const bool calibrated = reader.find(value, "calibrated").has_value();
  if (!within && !between && !explicit_links && !calibrated) {
    reader.fail(value,
                "says nothing of its links; write `intra` (inside a node), `inter` (between nodes), `links` "
                "or `calibrated`");
  }
  if (machine.nodes > 1 && !between && !explicit_links && !calibrated) {
    reader.fail(under("nodes"), "is {}, so write `inter`, what connects the nodes", machine.nodes);
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

std::optional<Machine> read_machine(Reader& reader, const Value& value, const std::string& default_name) {
  auto machine = read_map(reader, value, machine_table());
  if (machine) {
    machine->origin = reader.file();
    if (machine->name.empty()) {
      machine->name = default_name;
    }
  }
  return machine;
}

std::optional<Machine> read_machine_file(const std::filesystem::path& file, const std::string& shown,
                                         std::vector<Problem>& problems,
                                         const std::vector<std::string>& algorithms) {
  const auto document = read_document(file, shown, problems);
  if (!document) {
    return std::nullopt;
  }
  Reader reader(*document, problems, algorithms);
  return read_machine(reader, reader.root(), file.stem().string());
}

Machine load_machine(const std::filesystem::path& file, const KnownNames& known) {
  std::vector<Problem> problems;
  auto machine = read_machine_file(file, file.string(), problems, algorithms_of(known));
  if (!machine) {
    throw_problems(std::move(problems));
  }
  return std::move(*machine);
}

Machine parse_machine(const std::string& yaml, const std::string& origin) {
  std::vector<Problem> problems;
  return *read_whole(parse_document(origin, yaml, problems), problems,
                     [&](Reader& reader) { return read_machine(reader, reader.root(), origin); });
}

std::string to_yaml(const Machine& machine) {
  YAML::Emitter out;
  write_map(out, machine, machine_table());
  RINGSIDE_CHECK(out.good(), "a machine that cannot be written: " + out.GetLastError());
  return std::string(out.c_str()) + "\n";
}

std::vector<KeyDescription> machine_keys() { return keys_of(machine_table()); }

MapTable<Software> software_table() {
  return {
      .form = "a map such as `{nccl: 2.18.3}`",
      .rows =
          {
              row<&Software::nccl>(text_type("a version such as `2.18.3`")),
              row<&Software::rccl>(text_type("a version such as `2.20.5`")),
              row<&Software::mpi>(text_type("a library such as `Open MPI 4.1.4`")),
              // The words of NCCL_ALGO and NCCL_PROTO (NCCL user guide, "Environment Variables").
              row<&Software::nccl_algo>(word_type(
                  "NCCL algorithm",
                  {"Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT", "^NVLS"})),
              row<&Software::nccl_proto>(word_type("NCCL protocol", {"LL", "LL128", "Simple"})),
              row<&Software::processes>(choice_type<Processes>("way to start processes")),
          },
  };
}

/// A day, a month or a year.
ValueType<std::string> date_type() {
  const std::string form = "a date such as `2026-11-01`";
  return narrowed(text_type(form), [form](const Value&, const std::string& text) {
    return is_date(text) ? "" : fmt::format("{} is not {}", in_quotes(text), form);
  });
}

MapTable<Described> described_table() {
  return {.form = "a map such as `{by: the vendor's data sheet, as_of: 2026-11-01}`",
          .rows = {row<&Described::by>(text_type("a source such as `the vendor's data sheet`"),
                                       {.required = true}),
                   row<&Described::as_of>(date_type(), {.required = true})}};
}

MapTable<Price> price_table() {
  const std::string amount_form = "an amount and its currency such as `32.77 USD`";
  // One key, two members.
  Row<Price> per_hour = {
      .key = {.path = "per_hour", .form = amount_form, .required = true},
      .below = {},
      .read =
          [amount_form](Reader& reader, const Value& value, Price& price) {
            const auto text = reader.scalar(value, amount_form);
            const auto amount = text ? parse_money(*text) : std::nullopt;
            if (text && !amount) {
              reader.fail(value, "{} is not {}", in_quotes(*text), amount_form);
            } else if (amount) {
              price.per_hour = amount->amount;
              price.currency = amount->currency;
            }
          },
      .given = [](const Price&) { return true; },
      .write = [](YAML::Emitter& out,
                  const Price& price) { out << fmt::format("{} {}", price.per_hour, price.currency); },
  };
  return {.form = "a map such as `{per_hour: 32.77 USD, as_of: 2026-11-01}`",
          .rows = {per_hour, row<&Price::as_of>(date_type())}};
}

std::optional<std::int64_t> num_gpus(const Machine& machine) {
  const bool any_number = machine.calibrated && machine.calibrated->between_nodes;
  return machine.gpus_per_node && !any_number
             ? std::optional(std::int64_t{machine.nodes} * *machine.gpus_per_node)
             : std::nullopt;
}

const MapTable<Machine>& machine_table() {
  static const MapTable<Machine> table = {
      .form = "a map such as `{intra: {kind: pcie, generation: 4}}`",
      .rows =
          {
              row<&Machine::name>(text_type("a name such as `2 x 8 A100`")),
              row<&Machine::nodes>(whole_number_type({.min = 1, .max = kMaxRanks}), {.default_value = "1"}),
              row<&Machine::gpus_per_node>(whole_number_type({.min = 1, .max = kMaxGpusPerNode})),
              row<&Machine::gpu>(map_type(gpu_table())),
              row<&Machine::cpu>(map_type(cpu_table())),
              row<&Machine::intra>(map_type(intra_table())),
              row<&Machine::inter>(map_type(inter_table())),
              row<&Machine::links>(
                  list_type(map_type(link_table()), {.form = "a list of maps such as `{from: rank 0, to: "
                                                             "switch, latency: 2 us, bandwidth: 25 GB/s}`"})),
              row<&Machine::ring_order>(list_type(
                  whole_number_type({.min = 0, .max = kMaxRanks - 1}),
                  {.form = "a list of ranks such as `[0, 2, 1, 3]`", .distinct = true, .on_one_line = true})),
              row<&Machine::stragglers>(
                  list_type(map_type(straggler_table()),
                            {.form = "a list of maps such as `{rank: 3, slowdown: 1.5}`"})),
              row<&Machine::calibrated>(map_type(calibrated_table())),
              row<&Machine::known>(list_type(
                  known_type(), {.form = fmt::format("a list; each entry is {}", known_type().form)})),
              row<&Machine::software>(map_type(software_table())),
              row<&Machine::price>(map_type(price_table())),
              row<&Machine::described>(map_type(described_table())),
          },
      .check = check_machine,
      .on_one_line = false,
  };
  return table;
}

}  // namespace ringside
