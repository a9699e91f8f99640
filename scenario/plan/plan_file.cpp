#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

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

/// A plan while it is read; what can only be judged once another key is known waits as a value.
struct PlanDraft : Plan {
  std::optional<Value> workload_value;
  std::optional<Value> sharding_value;
  std::optional<Value> offers_value;
};

std::string workload_form() {
  return "a workload file such as `../workloads/resnet50.yaml`, a name of `ringside list workloads`, or a "
         "map";
}

ValueType<std::vector<ExchangeRate>> exchange_rates_type() {
  const auto any =
      list_type(exchange_rate_type(),
                {.form = "a list of exchange rates such as `[1 EUR = 1.08 USD]`", .single_allowed = true});
  return narrowed(any, [](const Value&, const std::vector<ExchangeRate>& rates) -> std::string {
    for (auto rate = rates.begin(); rate != rates.end(); ++rate) {
      const auto same = [&](const ExchangeRate& earlier) {
        return is_between(earlier, rate->of.currency, rate->is.currency);
      };
      if (std::any_of(rates.begin(), rate, same)) {
        return fmt::format("has two rates between {} and {}; write one of them", rate->of.currency,
                           rate->is.currency);
      }
    }
    return {};
  });
}

/// `algorithms`: those that are known; none where only the keys are asked for.
MapTable<PlanDraft> plan_table(const std::vector<std::string>& algorithms = {}) {
  ValueType<std::string> algorithm = word_type("algorithm", algorithms);
  algorithm.form = "an algorithm such as `native`";
  algorithm.allowed.clear();
  return {
      .form = "a map such as `{workload: resnet50, offers: […]}`",
      .rows = {row<&PlanDraft::name, PlanDraft>(folder_name_type()),
               later("workload", &PlanDraft::workload_value, workload_form(), {.required = true}),
               row<&PlanDraft::synchronisation, PlanDraft>(map_type(synchronisation_table())),
               row<&PlanDraft::algorithm, PlanDraft>(algorithm, {.default_value = "native"}),
               row<&PlanDraft::alternatives, PlanDraft>(
                   list_type(algorithm, {.form = "a list of algorithms such as `[naive, ring]`",
                                         .single_allowed = true,
                                         .distinct = true}),
                   {.default_value = "[naive, tutorial_ring, ring]"}),
               later("sharding", &PlanDraft::sharding_value, sharding_form(), {}, sharding_keys()),
               row<&PlanDraft::deadline, PlanDraft>(duration_type()),
               row<&PlanDraft::budget, PlanDraft>(money_type()),
               row<&PlanDraft::exchange_rates, PlanDraft>(exchange_rates_type()),
               row<&PlanDraft::interruptions, PlanDraft>(map_type(interruptions_table())),
               later("offers", &PlanDraft::offers_value, offers_form(), {}, offer_keys())},
      .on_one_line = false,
  };
}

// --- Other values ------------------------------------------------------------------------------------------

/// What has no part in a plan that spreads a model: its collectives are NCCL's own, as its way to shard says.
void check_beside_sharding(Reader& reader, const PlanDraft& draft) {
  if (!draft.synchronisation.only_accumulates()) {
    reader.fail(*draft.sharding_value, "of `synchronisation` only `accumulate` counts beside it");
  }
  for (const char* key : {"algorithm", "alternatives"}) {
    if (const auto given = reader.find(reader.root(), key)) {
      reader.fail(*given, "has no effect beside `sharding`, whose collectives are NCCL's own");
    }
  }
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
                                                   const std::filesystem::path& workloads) {
  const auto text = text_type(workload_form()).read(reader, value);
  if (!text) {
    return std::nullopt;
  }
  std::error_code ignored;
  for (const auto& candidate : {folder / *text, workloads / (*text + ".yaml")}) {
    if (std::filesystem::is_regular_file(candidate, ignored)) {
      return candidate.lexically_normal();
    }
  }
  reader.fail(
      value, "there is no such file; {}",
      unknown_name("workload", std::filesystem::path(*text).stem().string(), names_in(workloads, ".yaml")));
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
                                                const std::filesystem::path& folder,
                                                const std::filesystem::path& workloads,
                                                const std::vector<KeyOverride>& overrides, bool shards) {
  const auto read = [&](Reader& from, const Value& root, const std::filesystem::path& beside) {
    auto workload = read_workload(from, root, beside, workloads / "tensors");
    if (shards && workload && workload->transformer) {
      check_workload_beside_sharding(from, root);
    }
    return workload;
  };
  if (value.node.IsMap()) {
    apply(overrides, workload_keys(), value.node);
    return read(reader, value, folder);
  }
  const auto file = workload_file(reader, value, folder, workloads);
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
               const std::filesystem::path& workloads, const std::vector<KeyOverride>& overrides) {
  PlanDraft plan;
  MapTable<PlanDraft> table = plan_table(known.algorithms(Collective::all_reduce));
  table.check = [&](Reader&, const Value&, PlanDraft& read) { plan = read; };
  read_map(reader, reader.root(), table);

  plan.file = file;
  if (plan.name.empty()) {
    plan.name = file.stem().string();
  }
  bool workload_read = false;
  if (plan.workload_value) {
    if (auto workload = read_workload_reference(reader, *plan.workload_value, file.parent_path(), workloads,
                                                overrides, plan.sharding_value.has_value())) {
      plan.workload = std::move(*workload);
      workload_read = true;
      if (plan.workload.tensors.empty() && plan.synchronisation.style == Synchronisation::per_tensor) {
        reader.fail(*plan.workload_value,
                    "has no tensors, which synchronising per_tensor needs; write `model` or `tensors`");
      }
    }
  }
  if (plan.sharding_value) {
    const Value& value = *plan.sharding_value;
    plan.search = value.node.IsScalar() && value.node.Scalar() == "search";
    plan.sharding = plan.search ? std::vector<Layout>{} : read_shardings(reader, value);
    check_beside_sharding(reader, plan);
    if (workload_read && !plan.workload.transformer) {
      reader.fail(value, "needs a workload with `transformer`, the numbers of a language model");
    }
  }
  if (workload_read && !(plan.workload.samples > 0)) {
    for (const char* limit : {"deadline", "budget"}) {
      if (const auto place = reader.find(reader.root(), limit)) {
        reader.fail(*place, "needs a workload whose length is known; write `samples` or `tokens` in it");
      }
    }
  }
  if (plan.offers_value) {
    plan.offers = read_offers(reader, *plan.offers_value, known.machines);
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

Plan load_plan(const std::filesystem::path& file, const KnownNames& known,
               const std::filesystem::path& workloads, const std::vector<KeyOverride>& overrides) {
  RINGSIDE_CHECK(known.algorithms != nullptr, "a plan is loaded without the names of algorithms");
  const std::vector<std::string> algorithms = known.algorithms(Collective::all_reduce);
  std::vector<Problem> problems;
  const auto document = read_document(file, file.string(), problems);
  if (!document) {
    throw_problems(std::move(problems));
  }
  apply(overrides, plan_keys(), document->root());
  Reader reader(*document, problems, algorithms);
  Plan plan = read_plan(reader, file, known, workloads, overrides);
  if (!problems.empty()) {
    report(overrides, plan_keys(), problems);
    report(overrides, workload_keys(), problems);
    throw_problems(std::move(problems));
  }
  return plan;
}

std::vector<KeyDescription> plan_keys() { return keys_of(plan_table()); }

}  // namespace ringside
