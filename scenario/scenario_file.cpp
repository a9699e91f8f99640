#include <algorithm>
#include <cmath>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

#include "common/error.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/machine/machine_table.hpp"
#include "scenario/machine/named_machine.hpp"
#include "scenario/message_sizes.hpp"
#include "scenario/scenario.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

/// A scenario while it is read. What can only be judged once another key is known waits as a value.
struct ScenarioDraft {
  std::optional<std::string> name;
  std::optional<Collective> collective;
  std::optional<Value> algorithms;
  std::optional<Value> ranks;
  std::optional<Value> ranks_per_node;
  std::optional<Value> message_sizes;
  std::optional<DataType> dtype;
  ReduceOp op = ReduceOp::sum;
  Backend backend = Backend::automatic;
  std::optional<Value> machine;
  std::optional<Value> measured;
  std::optional<Evaluation> evaluation;
  Software software;
};

template <typename E>
ValueType<E> enum_type(const std::string& what, std::initializer_list<E> excluded = {}) {
  std::vector<E> values;
  for (const std::string& word : names_of<E>()) {
    const E value = *parse_name<E>(word);
    if (std::find(excluded.begin(), excluded.end(), value) == excluded.end()) {
      values.push_back(value);
    }
  }
  return choice_type(what, values);
}

/// A name that is also the name of a folder of results.
ValueType<std::string> scenario_name_type() {
  ValueType<std::string> type = text_type("a name such as `ring or naive`");
  type.read = [text_of = type.read](Reader& reader, const Value& value) {
    auto text = text_of(reader, value);
    if (text && (text->find('/') != std::string::npos || *text == "." || *text == "..")) {
      reader.fail(
          value,
          fmt::format("{} cannot be the name of a folder, and results go to out/<name>; write it without '/'",
                      in_quotes(*text)));
      text.reset();
    }
    return text;
  };
  return type;
}

// --- Algorithms -----------------------------------------------------------------------------------------------------

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

// --- Machine and measurements ---------------------------------------------------------------------------------------

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
    reader.fail(value, fmt::format("there is no file '{}'", file.lexically_normal().string()));
    return std::nullopt;
  }
  return file;
}

void check_ranks(Reader& reader, const std::vector<Placed<int>>& ranks, const Machine& machine) {
  const auto gpus = num_gpus(machine);
  for (const Placed<int>& count : ranks) {
    if (gpus && count.value > *gpus) {
      reader.fail(count.place, fmt::format("{} ranks need as many GPUs, but {} has {}", count.value,
                                           in_quotes(machine.name), *gpus));
    } else if (machine.ranks_per_node &&
               count.value > std::int64_t{*machine.ranks_per_node} * machine.nodes) {
      reader.fail(count.place, fmt::format("{} ranks, {} per node, need more than the {} node{} of {}",
                                           count.value, *machine.ranks_per_node, machine.nodes,
                                           machine.nodes == 1 ? "" : "s", in_quotes(machine.name)));
    }
  }
}

/// Where fewer ranks stand on a node than it has GPUs.
std::optional<int> read_ranks_per_node(Reader& reader, const Value& value, const Machine& machine) {
  const auto per_node = whole_number_type({.min = 1, .max = kMaxRanks}).read(reader, value);
  if (per_node && !machine.gpus_per_node) {
    reader.fail(value, "says where ranks stand, but the machine does not say `gpus_per_node`");
  } else if (per_node && *per_node > *machine.gpus_per_node) {
    reader.fail(value, fmt::format("is {}, but a node of {} has {} GPUs", *per_node, in_quotes(machine.name),
                                   *machine.gpus_per_node));
  }
  return per_node;
}

/// A straggler that no run has would do nothing, silently. A machine of its own that says how many GPUs it has may have
/// more of them than a scenario uses.
void check_stragglers(Reader& reader, const std::vector<int>& ranks, const Value& place,
                      const Machine& machine) {
  const bool own_file = !place.node.IsMap();
  if (ranks.empty() || (own_file && num_gpus(machine))) {
    return;
  }
  const int most = *std::max_element(ranks.begin(), ranks.end());
  const Value where = reader.find(place, "stragglers").value_or(place);
  for (const Straggler& straggler : machine.stragglers) {
    if (straggler.rank >= most) {
      reader.fail(where, fmt::format("rank {} is a straggler, but this scenario has {} ranks, 0 to {}",
                                     straggler.rank, most, most - 1));
    }
  }
}

// --- The scenario ---------------------------------------------------------------------------------------------------

ListShape ranks_shape() {
  return {.form = "a number of ranks such as 4, or a list such as `[2, 4]`",
          .single_allowed = true,
          .distinct = true,
          .max_items = kMaxListed};
}

MapTable<Evaluation> evaluation_table() {
  return {.form = "a map such as `{source: github.com/x/y, group: y A100}`",
          .rows = {
              row("source", &Evaluation::source, text_type("a text such as `NVIDIA/nccl-tests issue 290`"),
                  {.meaning = "Where the measurements were published.", .required = true}),
              row("group", &Evaluation::group, text_type("a name such as `abci A100`"),
                  {.meaning = "The source: systems of one source are held out of a fit together.",
                   .required = true}),
              row("excluded", &Evaluation::excluded, text_type("a reason such as `the GPU is not stated`"),
                  {.meaning = "Why this is no fair test of a model; it is listed apart."}),
              row("uncertain", &Evaluation::uncertain,
                  text_type("a reason such as `the rate of the NICs is a guess`"),
                  {.meaning = "What of the machine's description is a guess."}),
          }};
}

MapTable<ScenarioDraft> scenario_table() {
  return {
      .form = "a map",
      .rows =
          {
              row("name", &ScenarioDraft::name, scenario_name_type(),
                  {.meaning =
                       "What charts and the folder of results are called; the file's name when left out."}),
              row("collective", &ScenarioDraft::collective, enum_type<Collective>("collective"),
                  {.meaning = "The operation that all ranks take part in.", .default_value = "all_reduce"}),
              later("algorithms", &ScenarioDraft::algorithms, algorithms_shape().form,
                    {.meaning = "What is compared: names of `ringside list algorithms`, and `native`, the "
                                "backend's own. For other collectives than all_reduce the default is every "
                                "one there is.",
                     .default_value = "[naive, tutorial_ring, ring]"}),
              later(
                  "ranks", &ScenarioDraft::ranks, ranks_shape().form,
                  {.meaning = "How many ranks take part; one comparison for each number.", .required = true}),
              later("ranks_per_node", &ScenarioDraft::ranks_per_node, "a number of ranks such as 4",
                    {.meaning = "How many ranks stand on each node of the machine, on its first GPUs; for "
                                "predictions, "
                                "a measurement's ranks are where their launcher puts them."}),
              later("message_sizes", &ScenarioDraft::message_sizes, message_sizes_form(),
                    {.meaning = "Sizes of the whole message S, each a whole number of elements.",
                     .required = true},
                    size_range_keys()),
              row("dtype", &ScenarioDraft::dtype, enum_type<DataType>("dtype"),
                  {.meaning = "Type of an element.", .default_value = "float32"}),
              row("op", &ScenarioDraft::op, enum_type<ReduceOp>("op"),
                  {.meaning = "How contributions are combined; `avg` of integers drops the fraction.",
                   .default_value = "sum"}),
              // Ranks that are threads are a tool of the tests.
              row("backend", &ScenarioDraft::backend, enum_type<Backend>("backend", {Backend::threads}),
                  {.meaning = "What carries the messages of a measurement, and whose `native` is meant; "
                              "`auto` chooses by what the machine has.",
                   .default_value = "auto"}),
              later(
                  "machine", &ScenarioDraft::machine, machine_form(),
                  {.meaning =
                       "What is predicted for: a name of `ringside list machines`, also several nodes of it "
                       "(`2 x p4d.24xlarge`), a file (relative to this one), the keys of such a "
                       "file, or `this`, the machine it runs on, which is then calibrated.",
                   .required = true}),
              later("measured", &ScenarioDraft::measured, "a file such as `run.jsonl`",
                    {.meaning = "Results that were measured elsewhere (results.jsonl, a log of nccl-tests, "
                                "CSV), relative to this file."}),
              row("evaluation", &ScenarioDraft::evaluation, map_type(evaluation_table()),
                  {.meaning = "What `ringside evaluate` has to know of the measurements."}),
              row("software", &ScenarioDraft::software, map_type(software_table()),
                  {.meaning = "What NCCL is told when it measures, and what its `native` is predicted with; "
                              "counts more than the machine's `software`."}),
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
  take(first.nccl_algo, second.nccl_algo);
  take(first.nccl_proto, second.nccl_proto);
  take(first.processes, second.processes);
  return first;
}

Scenario read_scenario(Reader& reader, const std::filesystem::path& file, const KnownNames& known) {
  const Value root = reader.root();
  ScenarioDraft draft;
  MapTable<ScenarioDraft> table = scenario_table();
  // A draft is wanted even where keys have problems: what does not depend on them is still worth checking.
  table.check = [&](Reader&, const Value&, ScenarioDraft& read) { draft = read; };
  read_map(reader, root, table);

  Scenario scenario;
  scenario.name = draft.name.value_or(file.stem().string());
  scenario.file = file;
  scenario.op = draft.op;
  scenario.backend = draft.backend;
  // A collective or dtype that was refused has its own message; what depends on it is not judged.
  const bool collective_known = draft.collective || !reader.find(root, "collective");
  const bool dtype_known = draft.dtype || !reader.find(root, "dtype");
  scenario.collective = draft.collective.value_or(Collective::all_reduce);
  scenario.dtype = draft.dtype.value_or(DataType::float32);

  const std::vector<std::string> algorithms = known.algorithms(scenario.collective);
  if (draft.algorithms && collective_known) {
    scenario.algorithms = read_algorithms(reader, *draft.algorithms, scenario.collective, algorithms);
  } else {
    scenario.algorithms = default_algorithms(scenario.collective, algorithms);
  }

  std::vector<Placed<int>> ranks;
  if (draft.ranks) {
    ranks = read_list(reader, *draft.ranks, whole_number_type({.min = 1, .max = kMaxRanks}), ranks_shape())
                .value_or(std::vector<Placed<int>>{});
    for (const Placed<int>& count : ranks) {
      scenario.ranks.push_back(count.value);
    }
  }

  if (draft.message_sizes) {
    const auto dtype = dtype_known ? std::optional(scenario.dtype) : std::nullopt;
    scenario.message_sizes = read_message_sizes(reader, *draft.message_sizes, dtype);
  }

  if (draft.machine) {
    scenario.machine = draft.machine->node.IsMap()
                           ? read_machine(reader, *draft.machine, file.stem().string())
                           : read_named_machine(reader, *draft.machine, known.machines);
    if (scenario.machine) {
      if (draft.ranks_per_node) {
        scenario.ranks_per_node = read_ranks_per_node(reader, *draft.ranks_per_node, *scenario.machine);
        scenario.machine->ranks_per_node = scenario.ranks_per_node;
      }
      check_ranks(reader, ranks, *scenario.machine);
      check_stragglers(reader, scenario.ranks, *draft.machine, *scenario.machine);
    }
  }
  const bool is_this = draft.machine && !draft.machine->node.IsMap() && !scenario.machine;
  if (draft.ranks_per_node && is_this && reader.num_problems() == 0) {
    reader.fail(*draft.ranks_per_node,
                "bears on nothing with `machine: this`; the launcher says where ranks stand");
  }
  scenario.software = combined(draft.software, scenario.machine ? scenario.machine->software : Software{});
  if (scenario.machine) {
    scenario.machine->software = scenario.software;
  }
  if (draft.measured) {
    scenario.measured = read_measured(reader, *draft.measured);
  }
  scenario.evaluation = draft.evaluation;
  return scenario;
}

}  // namespace

Scenario load_scenario(const std::filesystem::path& file, const KnownNames& known) {
  RINGSIDE_CHECK(known.algorithms != nullptr, "a scenario is loaded without the names of algorithms");
  std::vector<Problem> problems;
  const auto document = read_document(file, file.string(), problems);
  if (!document) {
    throw_problems(std::move(problems));
  }
  Reader reader(*document, problems, known.algorithms(Collective::all_reduce));
  Scenario scenario = read_scenario(reader, file, known);
  if (!problems.empty()) {
    throw_problems(std::move(problems));
  }
  return scenario;
}

ValueType<std::string> folder_name_type() { return scenario_name_type(); }

std::vector<KeyDescription> scenario_keys() { return keys_of(scenario_table()); }

}  // namespace ringside
