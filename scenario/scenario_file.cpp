#include <algorithm>
#include <cstdint>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/text.hpp"
#include "scenario/keys.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/machine/named_machine.hpp"
#include "scenario/message_sizes.hpp"
#include "scenario/scenario.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

/// A scenario while it is read. What can only be judged once another key is known waits as a value.
struct ScenarioDraft : Scenario {
  std::optional<Value> algorithms_value;
  std::optional<Value> ranks_value;
  std::optional<Value> ranks_per_node_value;
  std::optional<Value> message_sizes_value;
  std::optional<Value> machine_value;
  std::optional<Value> measured_value;
};

/// A name that is also the name of a folder of results.
ValueType<std::string> scenario_name_type() {
  return narrowed(text_type("a name such as `ring or naive`"), [](const Value&, const std::string& text) {
    return text.find('/') != std::string::npos || text == "." || text == ".."
               ? fmt::format(
                     "{} cannot be the name of a folder, and results go to out/<name>; write it without '/'",
                     in_quotes(text))
               : "";
  });
}

// --- Algorithms --------------------------------------------------------------------------------------------

ListShape algorithms_shape() {
  return {.form = "a list of algorithms such as `[naive, ring]`",
          .single_allowed = true,
          .distinct = true,
          .max_items = kMaxListed};
}

std::vector<std::string> read_algorithms(Reader& reader, const Value& value, Collective collective,
                                         const std::vector<std::string>& known) {
  const std::string what =
      collective == Collective::all_reduce ? "algorithm" : fmt::format("algorithm of {}", name(collective));
  return list_type(word_type(what, known), algorithms_shape())
      .read(reader, value)
      .value_or(std::vector<std::string>{});
}

std::vector<std::string> default_algorithms(Collective collective, const std::vector<std::string>& known) {
  return collective == Collective::all_reduce ? std::vector<std::string>{"naive", "tutorial_ring", "ring"}
                                              : known;
}

// --- Machine and measurements ------------------------------------------------------------------------------

std::filesystem::path folder_of(const Reader& reader) {
  return std::filesystem::path(reader.file()).parent_path();
}

std::optional<std::filesystem::path> read_measured(Reader& reader, const Value& value) {
  const auto text = text_type("a file such as `run.jsonl`").read(reader, value);
  if (!text) {
    return std::nullopt;
  }
  const std::filesystem::path file = folder_of(reader) / *text;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    reader.fail(value, "there is no file '{}'", file.lexically_normal().string());
    return std::nullopt;
  }
  return file;
}

void check_ranks(Reader& reader, const std::vector<Placed<int>>& ranks, const Machine& machine) {
  const auto gpus = num_gpus(machine);
  for (const Placed<int>& count : ranks) {
    if (gpus && count.value > *gpus) {
      reader.fail(count.place, "{} ranks need as many GPUs, but {} has {}", count.value,
                  in_quotes(machine.name), *gpus);
    } else if (machine.ranks_per_node &&
               count.value > std::int64_t{*machine.ranks_per_node} * machine.nodes) {
      reader.fail(count.place, "{} ranks, {} per node, need more than the {} of {}", count.value,
                  *machine.ranks_per_node, count_of(machine.nodes, "node"), in_quotes(machine.name));
    }
  }
}

/// Where fewer ranks stand on a node than it has GPUs.
std::optional<int> read_ranks_per_node(Reader& reader, const Value& value, const Machine& machine) {
  const auto per_node = whole_number_type({.min = 1, .max = kMaxRanks}).read(reader, value);
  if (per_node && !machine.gpus_per_node) {
    reader.fail(value, "says where ranks stand, but the machine does not say `gpus_per_node`");
  } else if (per_node && *per_node > *machine.gpus_per_node) {
    reader.fail(value, "is {}, but a node of {} has {} GPUs", *per_node, in_quotes(machine.name),
                *machine.gpus_per_node);
  }
  return per_node;
}

/// A straggler that no run has would do nothing, silently. A machine of its own that says how many GPUs it
/// has may have more of them than a scenario uses.
void check_stragglers(Reader& reader, const std::vector<int>& ranks, const Value& place,
                      const Machine& machine) {
  const bool own_file = !place.node.IsMap();
  if (ranks.empty() || (own_file && num_gpus(machine))) {
    return;
  }
  const int most = *std::ranges::max_element(ranks);
  const Value where = reader.find(place, "stragglers").value_or(place);
  for (const Straggler& straggler : machine.stragglers) {
    if (straggler.rank >= most) {
      reader.fail(where, "rank {} is a straggler, but this scenario has {} ranks, 0 to {}", straggler.rank,
                  most, most - 1);
    }
  }
}

// --- The scenario ------------------------------------------------------------------------------------------

ListShape ranks_shape() {
  return {.form = "a number of ranks such as 4, or a list such as `[2, 4]`",
          .single_allowed = true,
          .distinct = true,
          .max_items = kMaxListed};
}

MapTable<Evaluation> evaluation_table() {
  return {.form = "a map such as `{source: github.com/x/y, group: y A100}`",
          .rows = {
              row<&Evaluation::source>(text_type("a text such as `NVIDIA/nccl-tests issue 290`"),
                                       {.required = true}),
              row<&Evaluation::group>(text_type("a name such as `abci A100`"), {.required = true}),
              row<&Evaluation::excluded>(text_type("a reason such as `the GPU is not stated`")),
              row<&Evaluation::uncertain>(text_type("a reason such as `the rate of the NICs is a guess`")),
          }};
}

MapTable<ScenarioDraft> scenario_table() {
  return {
      .form = "a map",
      .rows =
          {
              row<&ScenarioDraft::name, ScenarioDraft>(scenario_name_type()),
              row<&ScenarioDraft::collective, ScenarioDraft>(choice_type<Collective>("collective"),
                                                             {.default_value = "all_reduce"}),
              later("algorithms", &ScenarioDraft::algorithms_value, algorithms_shape().form,
                    {.default_value = "[naive, tutorial_ring, ring]"}),
              later("ranks", &ScenarioDraft::ranks_value, ranks_shape().form, {.required = true}),
              later("ranks_per_node", &ScenarioDraft::ranks_per_node_value, "a number of ranks such as 4"),
              later("message_sizes", &ScenarioDraft::message_sizes_value, message_sizes_form(),
                    {.required = true}, size_range_keys()),
              row<&ScenarioDraft::dtype, ScenarioDraft>(choice_type<DataType>("dtype"),
                                                        {.default_value = "float32"}),
              row<&ScenarioDraft::op, ScenarioDraft>(choice_type<ReduceOp>("op"), {.default_value = "sum"}),
              // Ranks that are threads are a tool of the tests.
              row<&ScenarioDraft::backend, ScenarioDraft>(
                  choice_type<Backend>("backend", {Backend::automatic, Backend::gloo, Backend::nccl,
                                                   Backend::shm, Backend::mpi}),
                  {.default_value = "auto"}),
              later("machine", &ScenarioDraft::machine_value, machine_form(), {.required = true}),
              later("measured", &ScenarioDraft::measured_value, "a file such as `run.jsonl`"),
              row<&ScenarioDraft::evaluation, ScenarioDraft>(map_type(evaluation_table())),
              row<&ScenarioDraft::software, ScenarioDraft>(map_type(software_table())),
          },
  };
}

/// What `first` leaves out is as in `second`.
Software combined(Software first, const Software& second) {
  const auto take = [](auto& mine, const auto& other) {
    if (!mine) {
      mine = other;
    }
  };
  take(first.nccl, second.nccl);
  take(first.rccl, second.rccl);
  take(first.mpi, second.mpi);
  take(first.nccl_algo, second.nccl_algo);
  take(first.nccl_proto, second.nccl_proto);
  take(first.processes, second.processes);
  return first;
}

/// The machine, and what depends on it.
void read_on_machine(Reader& reader, const std::vector<Placed<int>>& ranks, const KnownNames& known,
                     ScenarioDraft& scenario) {
  const auto& place = scenario.machine_value;
  const auto& per_node = scenario.ranks_per_node_value;
  const bool inline_map = place && place->node.IsMap();
  if (place) {
    scenario.machine = inline_map ? read_machine(reader, *place, scenario.file.stem().string())
                                  : read_named_machine(reader, *place, known.machines);
  }
  if (!scenario.machine) {
    if (per_node && place && !inline_map && reader.num_problems() == 0) {
      reader.fail(*per_node, "has no effect with `machine: this`; the launcher says where ranks stand");
    }
    return;
  }
  Machine& machine = *scenario.machine;
  if (per_node) {
    scenario.ranks_per_node = read_ranks_per_node(reader, *per_node, machine);
    machine.ranks_per_node = scenario.ranks_per_node;
  }
  check_ranks(reader, ranks, machine);
  check_stragglers(reader, scenario.ranks, *place, machine);
  scenario.software = combined(scenario.software, machine.software);
  machine.software = scenario.software;
}

Scenario read_scenario(Reader& reader, const Value& root, const std::filesystem::path& file,
                       const KnownNames& known) {
  ScenarioDraft scenario;
  MapTable<ScenarioDraft> table = scenario_table();
  // A draft is wanted even where keys have problems: what does not depend on them is still worth checking.
  table.check = [&](Reader&, const Value&, ScenarioDraft& read) { scenario = read; };
  read_map(reader, root, table);

  scenario.file = file;
  if (scenario.name.empty()) {
    scenario.name = file.stem().string();
  }
  // A collective or dtype that was refused has its own message; what depends on it is not judged.
  const auto refused = [&](const char* key, std::string_view read) {
    const auto value = reader.find(root, key);
    return value && !(value->node.IsScalar() && value->node.Scalar() == read);
  };
  const std::vector<std::string> algorithms = known.algorithms(scenario.collective);
  if (scenario.algorithms_value && !refused("collective", name(scenario.collective))) {
    scenario.algorithms =
        read_algorithms(reader, *scenario.algorithms_value, scenario.collective, algorithms);
  } else {
    scenario.algorithms = default_algorithms(scenario.collective, algorithms);
  }

  std::vector<Placed<int>> ranks;
  if (scenario.ranks_value) {
    const auto count = whole_number_type({.min = 1, .max = kMaxRanks});
    ranks =
        read_list(reader, *scenario.ranks_value, count, ranks_shape()).value_or(std::vector<Placed<int>>{});
    scenario.ranks = mapped(ranks, &Placed<int>::value);
  }

  if (scenario.message_sizes_value) {
    const auto dtype = refused("dtype", name(scenario.dtype)) ? std::nullopt : std::optional(scenario.dtype);
    scenario.message_sizes = read_message_sizes(reader, *scenario.message_sizes_value, dtype);
  }

  read_on_machine(reader, ranks, known, scenario);
  if (scenario.measured_value) {
    scenario.measured = read_measured(reader, *scenario.measured_value);
  }
  return scenario;
}

// --- Files of one scenario, and of the systems of a source -------------------------------------------------

/// `own` and what it leaves out of `other`; likewise for maps under one key, `levels` deep.
YAML::Node completed(const YAML::Node& own, const YAML::Node& other, int levels) {
  YAML::Node result(YAML::NodeType::Map);
  for (const auto& entry : own) {
    const YAML::Node more = other[entry.first.Scalar()];
    const bool both = levels > 1 && entry.second.IsMap() && more.IsDefined() && more.IsMap();
    result.force_insert(entry.first, both ? completed(entry.second, more, levels - 1) : entry.second);
  }
  for (const auto& entry : other) {
    if (!own[entry.first.Scalar()].IsDefined()) {
      result.force_insert(entry.first, entry.second);
    }
  }
  return result;
}

/// One entry of `systems`: a map with a name, which is read with the others later.
ValueType<Value> system_type() {
  return {.form = {},
          .read = [](Reader& reader, const Value& value) -> std::optional<Value> {
            if (!reader.find(value, "name")) {
              reader.fail(value, "is no map with a `name`; write one such as `{name: dgx-a100, ranks: 8}`");
              return std::nullopt;
            }
            return value;
          },
          .write = {}};
}

/// The maps of a file that are scenarios: the file, or its `systems` with the keys beside them.
std::vector<Value> scenarios_in(Reader& reader) {
  const Value root = reader.root();
  const auto list = reader.find(root, "systems");
  if (!list) {
    return {root};
  }
  YAML::Node shared(YAML::NodeType::Map);
  for (const auto& entry : root.node) {
    if (!entry.second.is(list->node)) {
      shared.force_insert(entry.first, entry.second);
    }
  }
  const auto placed = read_list(reader, *list, system_type(), {.form = "a list of maps, each with a `name`"});
  std::vector<Value> systems;
  for (const Placed<Value>& one : placed.value_or(std::vector<Placed<Value>>{})) {
    systems.push_back(
        {.node = completed(one.value.node, shared, 2), .key = {}, .position = one.value.position});
  }
  return systems;
}

}  // namespace

std::vector<Scenario> load_scenarios(const std::filesystem::path& file, const KnownNames& known) {
  RINGSIDE_CHECK(known.algorithms != nullptr, "a scenario is loaded without the names of algorithms");
  const auto read = [&](Reader& reader) {
    std::vector<Scenario> scenarios;
    std::set<std::string> names;
    for (const Value& root : scenarios_in(reader)) {
      scenarios.push_back(read_scenario(reader, root, file, known));
      scenarios.back().is_system = !root.node.is(reader.root().node);
      if (!names.insert(scenarios.back().name).second) {
        reader.fail(root, "another system is called {}", in_quotes(scenarios.back().name));
      }
    }
    return scenarios;
  };
  std::vector<Problem> problems;
  return read_whole(read_document(file, file.string(), problems), problems, read,
                    known.algorithms(Collective::all_reduce));
}

Scenario load_scenario(const std::filesystem::path& file, const KnownNames& known) {
  const std::string text = file.string();
  std::error_code ignored;
  const std::size_t mark = std::filesystem::exists(file, ignored) ? std::string::npos : text.rfind('#');
  const std::string path = text.substr(0, mark);
  std::vector<Scenario> scenarios = load_scenarios(path, known);
  if (mark == std::string::npos && scenarios.size() == 1) {
    return std::move(scenarios.front());
  }
  if (mark == std::string::npos) {
    throw bad_input("{}: holds {} systems; name one, such as {}#{}", path, scenarios.size(), path,
                    scenarios.front().name);
  }
  const std::string name = text.substr(mark + 1);
  std::vector<std::string> names;
  for (Scenario& scenario : scenarios) {
    if (scenario.name == name) {
      return std::move(scenario);
    }
    names.push_back(scenario.name);
  }
  throw bad_input("{}: {}", path, unknown_name("system", name, names));
}

ValueType<std::string> folder_name_type() { return scenario_name_type(); }

std::vector<KeyDescription> scenario_keys() { return keys_of(scenario_table()); }

}  // namespace ringside
