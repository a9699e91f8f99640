#include <algorithm>
#include <system_error>
#include <utility>

#include "common/failures.hpp"
#include "scenario/keys.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/plan/plan_parts.hpp"
#include "scenario/plan/plan_values.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

MapTable<SynchronisationSettings> synchronisation_table() {
  return {.form = "a map such as `{style: ddp, bucket: 25 MiB}`",
          .rows = {row<&SynchronisationSettings::style>(choice_type<Synchronisation>("way to synchronise"),
                                                        {.default_value = "ddp"}),
                   row<&SynchronisationSettings::bucket>(size_type(), {.default_value = "25 MiB"}),
                   row<&SynchronisationSettings::first_bucket>(size_type(), {.default_value = "1 MiB"}),
                   row<&SynchronisationSettings::accumulate>(whole_number_type({.min = 1, .max = 1'000'000}),
                                                             {.default_value = "1"})}};
}

// --- The plan ----------------------------------------------------------------------------------------------

MapTable<Interruptions> interruptions_table() {
  return {.form = "a map such as `{every: 24 h, checkpoint_every: 30 min}`",
          .rows = {row<&Interruptions::every>(duration_type(), {.default_value = "24 h"}),
                   row<&Interruptions::checkpoint_every>(duration_type(), {.default_value = "30 min"}),
                   row<&Interruptions::checkpoint_takes>(duration_type(), {.default_value = "60 s"}),
                   row<&Interruptions::restart>(duration_type(), {.default_value = "10 min"})}};
}

struct PlanDraft {
  std::optional<std::string> name;
  std::optional<Value> workload;
  SynchronisationSettings synchronisation;
  std::optional<Value> algorithm;
  std::optional<Value> alternatives;
  std::optional<Value> sharding;
  std::optional<Value> deadline;
  std::optional<Value> budget;
  std::optional<Value> exchange_rates;
  Interruptions interruptions;
  std::optional<Value> offers;
};

std::string workload_form() {
  return "a workload file such as `../workloads/resnet50.yaml`, a name of `ringside list workloads`, or a "
         "map";
}

ListShape alternatives_shape() {
  return {.form = "a list of algorithms such as `[naive, ring]`", .single_allowed = true, .distinct = true};
}

ListShape exchange_rates_shape() {
  return {.form = "a list of exchange rates such as `[1 EUR = 1.08 USD]`", .single_allowed = true};
}

/// As far as they could be read.
std::vector<ExchangeRate> read_exchange_rates(Reader& reader, const Value& value) {
  const auto rates = list_type(exchange_rate_type(), exchange_rates_shape()).read(reader, value);
  if (!rates) {
    return {};
  }
  for (auto rate = rates->begin(); rate != rates->end(); ++rate) {
    const auto same = [&](const ExchangeRate& earlier) {
      return is_between(earlier, rate->of.currency, rate->is.currency);
    };
    if (std::any_of(rates->begin(), rate, same)) {
      reader.fail(value, "has two rates between {} and {}; write one of them", rate->of.currency,
                  rate->is.currency);
      return {};
    }
  }
  return *rates;
}

MapTable<PlanDraft> plan_table() {
  return {
      .form = "a map such as `{workload: resnet50, offers: […]}`",
      .rows = {row<&PlanDraft::name>(folder_name_type()),
               later<&PlanDraft::workload>(workload_form(), {.required = true}),
               row<&PlanDraft::synchronisation>(map_type(synchronisation_table())),
               later<&PlanDraft::algorithm>("an algorithm such as `native`", {.default_value = "native"}),
               later<&PlanDraft::alternatives>(alternatives_shape().form,
                                               {.default_value = "[naive, tutorial_ring, ring]"}),
               later<&PlanDraft::sharding>(sharding_form(), {}, sharding_keys()),
               later<&PlanDraft::deadline>(duration_type().form),
               later<&PlanDraft::budget>(money_type().form),
               later<&PlanDraft::exchange_rates>(exchange_rates_shape().form),
               row<&PlanDraft::interruptions>(map_type(interruptions_table())),
               later<&PlanDraft::offers>(offers_form(), {}, offer_keys())},
      .on_one_line = false,
  };
}

// --- Other values ------------------------------------------------------------------------------------------

/// What has no part in a plan that spreads a model: its collectives are NCCL's own, as its way to shard says.
void check_beside_sharding(Reader& reader, const PlanDraft& draft) {
  SynchronisationSettings without_passes = draft.synchronisation;
  without_passes.accumulate = SynchronisationSettings{}.accumulate;
  if (without_passes != SynchronisationSettings{}) {
    reader.fail(*draft.sharding, "of `synchronisation` only `accumulate` counts beside it");
  }
  for (const auto& key : {draft.algorithm, draft.alternatives}) {
    if (key) {
      reader.fail(*key, "has no effect beside `sharding`, whose collectives are NCCL's own");
    }
  }
}

void read_sharding(Reader& reader, const PlanDraft& draft, Plan& plan) {
  plan.search = draft.sharding->node.IsScalar() && draft.sharding->node.Scalar() == "search";
  plan.sharding = plan.search ? std::vector<Layout>{} : read_shardings(reader, *draft.sharding);
  check_beside_sharding(reader, draft);
}

/// The path of a key given by path or last word; empty when none takes a plain value.
std::string whole_path(std::string_view key, const std::vector<KeyDescription>& keys) {
  for (const KeyDescription& known : keys) {
    const std::string last = known.path.substr(known.path.rfind('.') + 1);
    if ((known.path == key || last == key) && !known.path.starts_with("offers") &&
        !known.path.starts_with("tensors")) {
      return known.path;
    }
  }
  return {};
}

/// Problems that the overrides brought are theirs.
void report(const std::vector<KeyOverride>& overrides, const std::vector<KeyDescription>& known,
            std::vector<Problem>& problems) {
  for (const KeyOverride& override : overrides) {
    if (const std::string path = whole_path(override.key, known); !path.empty()) {
      report(problems, path, override.origin);
      report(problems, "workload." + path, override.origin);  // Where the plan has the workload inside.
    }
  }
}

/// Sets the keys of `known` in the YAML map, as if it said so.
void apply(const std::vector<KeyOverride>& overrides, const std::vector<KeyDescription>& known,
           YAML::Node root) {
  for (const KeyOverride& override : overrides) {
    const std::string path = whole_path(override.key, known);
    if (path.empty()) {
      continue;
    }
    const YAML::Node value = parse_value(override.value, override.origin);
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) {
      root[path] = value;
    } else {
      YAML::Node inner = root[path.substr(0, dot)];
      if (inner.IsDefined() && !inner.IsNull() && !inner.IsMap()) {
        throw bad_input(
            "{}: `{}` is {} here, and so has no one `{}` to change; list what is to be "
            "compared in the plan",
            override.origin, path.substr(0, dot), inner.IsSequence() ? "a list" : "one value",
            path.substr(dot + 1));
      }
      inner[path.substr(dot + 1)] = value;
      root[path.substr(0, dot)] = inner;
    }
    // One batch replaces the other, and one length of the run.
    for (const auto& [one, other] :
         {std::pair("batch_per_gpu", "global_batch"), std::pair("tokens", "samples")}) {
      if (path == one || path == other) {
        root.remove(path == one ? other : one);
      }
    }
  }
}

/// The file that `workload: text` means; nothing after a problem was added.
std::optional<std::filesystem::path> workload_file(Reader& reader, const Value& value,
                                                   const std::filesystem::path& folder,
                                                   const PlanPlaces& places) {
  const auto text = text_type(workload_form()).read(reader, value);
  if (!text) {
    return std::nullopt;
  }
  std::error_code ignored;
  for (const auto& candidate : {folder / *text, places.workloads / (*text + ".yaml")}) {
    if (std::filesystem::is_regular_file(candidate, ignored)) {
      return candidate.lexically_normal();
    }
  }
  std::vector<std::string> known;
  for (const auto& entry : std::filesystem::directory_iterator(places.workloads, ignored)) {
    if (entry.path().extension() == ".yaml") {
      known.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(known);
  reader.fail(value, "there is no such file; {}",
              unknown_name("workload", std::filesystem::path(*text).stem().string(), known));
  return std::nullopt;
}

/// The numbers of the model say what these would.
void check_workload_beside_sharding(Reader& reader, const Value& root) {
  const auto refuse = [&](const Value& map, const char* key) {
    if (const auto given = reader.find(map, key)) {
      reader.fail(*given, "has no effect beside `sharding`: it follows from `transformer`");
    }
  };
  for (const char* key : {"parameters", "gradients", "forward_flops", "backward_over_forward"}) {
    refuse(root, key);
  }
  for (const auto& [map, key] : {std::pair("compute", "family"), std::pair("memory", "activations")}) {
    if (const auto inner = reader.find(root, map); inner && inner->node.IsMap()) {
      refuse(*inner, key);
    }
  }
}

std::optional<Workload> read_workload_reference(Reader& reader, const Value& value,
                                                const std::filesystem::path& folder, const PlanPlaces& places,
                                                const std::vector<KeyOverride>& overrides, bool shards) {
  const auto read = [&](Reader& from, const Value& root, const std::filesystem::path& beside) {
    auto workload = read_workload(from, root, beside, places.models);
    if (shards && workload && workload->transformer) {
      check_workload_beside_sharding(from, root);
    }
    return workload;
  };
  if (value.node.IsMap()) {
    apply(overrides, workload_keys(), value.node);
    return read(reader, value, folder);
  }
  const auto file = workload_file(reader, value, folder, places);
  if (!file) {
    return std::nullopt;
  }
  const auto document = read_document(*file, file->string(), reader.problems());
  if (!document) {
    return std::nullopt;
  }
  apply(overrides, workload_keys(), document->root());
  Reader inner(*document, reader.problems());
  return read(inner, inner.root(), file->parent_path());
}

Plan read_plan(Reader& reader, const std::filesystem::path& file, const KnownNames& known,
               const PlanPlaces& places, const std::vector<KeyOverride>& overrides) {
  PlanDraft draft;
  MapTable<PlanDraft> table = plan_table();
  table.check = [&](Reader&, const Value&, PlanDraft& read) { draft = read; };
  read_map(reader, reader.root(), table);

  Plan plan;
  plan.file = file;
  plan.name = draft.name.value_or(file.stem().string());
  plan.synchronisation = draft.synchronisation;
  if (draft.deadline) {
    plan.deadline = duration_type().read(reader, *draft.deadline);
  }
  if (draft.budget) {
    plan.budget = money_type().read(reader, *draft.budget);
  }
  plan.interruptions = draft.interruptions;
  plan.algorithm = "native";
  plan.alternatives = {"naive", "tutorial_ring", "ring"};
  const auto algorithm = word_type("algorithm", known.algorithms(Collective::all_reduce));
  if (draft.algorithm) {
    plan.algorithm = algorithm.read(reader, *draft.algorithm).value_or(plan.algorithm);
  }
  if (draft.alternatives) {
    plan.alternatives = list_type(algorithm, alternatives_shape())
                            .read(reader, *draft.alternatives)
                            .value_or(plan.alternatives);
  }
  bool workload_read = false;
  if (draft.workload) {
    if (auto workload = read_workload_reference(reader, *draft.workload, file.parent_path(), places,
                                                overrides, draft.sharding.has_value())) {
      plan.workload = std::move(*workload);
      workload_read = true;
      if (plan.workload.tensors.empty() && plan.synchronisation.style == Synchronisation::per_tensor) {
        reader.fail(*draft.workload,
                    "has no tensors, which synchronising per_tensor needs; write `model` or `tensors`");
      }
    }
  }
  if (draft.sharding) {
    read_sharding(reader, draft, plan);
    if (workload_read && !plan.workload.transformer) {
      reader.fail(*draft.sharding, "needs a workload with `transformer`, the numbers of a language model");
    }
  }
  if (workload_read && !(plan.workload.samples > 0)) {
    for (const auto& limit : {draft.deadline, draft.budget}) {
      if (limit) {
        reader.fail(*limit, "needs a workload whose length is known; write `samples` or `tokens` in it");
      }
    }
  }
  if (draft.exchange_rates) {
    plan.exchange_rates = read_exchange_rates(reader, *draft.exchange_rates);
  }
  if (draft.offers) {
    plan.offers = read_offers(reader, *draft.offers, known.machines);
  }
  return plan;
}

}  // namespace

double Interruptions::slowdown() const {
  const double checkpoints = checkpoint_takes.value / checkpoint_every.value;
  const double lost = (checkpoint_every.value / 2 + restart.value) / every.value;
  return 1 + checkpoints + lost;
}

bool is_plan_key(std::string_view key) {
  return !whole_path(key, plan_keys()).empty() || !whole_path(key, workload_keys()).empty();
}

Plan load_plan(const std::filesystem::path& file, const KnownNames& known, const PlanPlaces& places,
               const std::vector<KeyOverride>& overrides) {
  RINGSIDE_CHECK(known.algorithms != nullptr, "a plan is loaded without the names of algorithms");
  const std::vector<std::string> algorithms = known.algorithms(Collective::all_reduce);
  std::vector<Problem> problems;
  const auto document = read_document(file, file.string(), problems);
  if (!document) {
    throw_problems(std::move(problems));
  }
  apply(overrides, plan_keys(), document->root());
  Reader reader(*document, problems, algorithms);
  Plan plan = read_plan(reader, file, known, places, overrides);
  if (!problems.empty()) {
    report(overrides, plan_keys(), problems);
    report(overrides, workload_keys(), problems);
    throw_problems(std::move(problems));
  }
  return plan;
}

std::vector<KeyDescription> plan_keys() { return keys_of(plan_table()); }

}  // namespace ringside
