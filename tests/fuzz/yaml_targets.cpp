// What people write in YAML: documents as such, scenarios, machines, workloads, plans and offers.

#include <algorithm>
#include <array>
#include <variant>

#include <fmt/format.h>

#include "analysis/plan/ranking.hpp"
#include "scenario/plan/plan.hpp"
#include "scenario/plan/transformer.hpp"
#include "scenario/plan/workload.hpp"
#include "scenario/scenario.hpp"
#include "scenario/yaml/document.hpp"
#include "scenario/yaml/yaml_tree.hpp"
#include "schedule/registry.hpp"
#include "sim/predict.hpp"
#include "sim/topology/network.hpp"
#include "target.hpp"

namespace ringside::fuzz {
namespace {

// What takes long by itself is no finding: how fast large requests are is measured elsewhere.
constexpr int kMostRanks = 32;
constexpr std::size_t kMostPoints = 8;
constexpr std::size_t kMostOffers = 3;

std::vector<std::string> names_of_algorithms(Collective collective) {
  std::vector<std::string> names = algorithm_names(collective);
  names.emplace_back(kNative);
  return names;
}

KnownNames known_names() {
  return {.algorithms = names_of_algorithms, .machines = source_folder() / "configs/machines"};
}

std::filesystem::path models() { return source_folder() / "configs/workloads/tensors"; }

void predict_points(const Machine& machine, std::span<const PointKey> keys, Backend backend) {
  for (const PointKey& key : keys) {
    const auto outcome = predict(machine, key, {.backend = backend});
    if (const auto* prediction = std::get_if<Prediction>(&outcome)) {
      require(prediction->seconds.value >= 0, "a predicted time is no time");
      require(!prediction->low || *prediction->low <= prediction->seconds, "an interval begins too late");
      require(!prediction->high || *prediction->high >= prediction->seconds, "an interval ends too early");
    }
  }
}

void read_a_document(std::string_view text) {
  std::vector<Problem> problems;
  if (const auto document = parse_document("x.yaml", std::string(text), problems)) {
    for (const auto& entry : document->root()) {
      require(document->position(entry.first.Mark()).line >= 1, "a key stands in no line");
    }
  } else {
    require(!problems.empty(), "a document is refused without a reason");
  }
}

void read_a_tree(std::string_view text) { parse_yaml_tree(std::string(text), "x.yaml"); }
void read_a_value(std::string_view text) { parse_value(std::string(text), "--set"); }

void use_machine(const Machine& machine) {
  const std::string written = to_yaml(machine);
  require(to_yaml(parse_machine(written, machine.name)) == written, "a machine does not read back");
  const int gpus = std::min(machine.gpus_per_node.value_or(4), kMostRanks);
  build_network(machine, gpus);
  const std::array keys = {
      PointKey{.algorithm = "ring", .ranks = gpus, .bytes = {1 << 20}},
      PointKey{.algorithm = std::string(kNative), .ranks = gpus, .bytes = {1 << 20}},
      PointKey{.algorithm = "naive",
               .ranks = static_cast<int>(
                   std::min<std::int64_t>(std::int64_t{gpus} * std::max(machine.nodes, 1), kMostRanks)),
               .bytes = {4}},
  };
  predict_points(machine, keys, Backend::automatic);
}

void read_a_machine(std::string_view text) { use_machine(parse_machine(std::string(text), "x.yaml")); }

void read_a_scenario(std::string_view text) {
  const Scenario scenario = load_scenario(as_file(text), known_names());
  if (!scenario.machine) {
    return;
  }
  std::vector<PointKey> keys;
  for (const int ranks : scenario.ranks) {
    for (const Bytes bytes : scenario.message_sizes) {
      for (const std::string& algorithm : scenario.algorithms) {
        if (ranks <= kMostRanks && keys.size() < kMostPoints) {
          keys.push_back({.collective = scenario.collective,
                          .algorithm = algorithm,
                          .ranks = ranks,
                          .bytes = bytes,
                          .dtype = scenario.dtype,
                          .op = scenario.op});
        }
      }
    }
  }
  predict_points(*scenario.machine, keys, scenario.backend);
}

void read_a_workload(std::string_view text) {
  const Workload workload = load_workload(as_file(text), models());
  require(gradient_bytes(workload).value >= 0, "gradients have less than no bytes");
}

void plan_with(const Plan& plan) {
  std::vector<Offer> offers(plan.offers.begin(), plan.offers.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                           plan.offers.size(), kMostOffers)));
  std::erase_if(offers, [](const Offer& offer) { return offer.gpus > kMostRanks; });
  Plan in_buckets = plan;
  in_buckets.sharding.clear();
  in_buckets.search = false;
  Planner planner(in_buckets);
  steps_on(in_buckets, offers, planner);
}

void read_a_plan(std::string_view text) {
  plan_with(load_plan(as_file(text), known_names(), source_folder() / "configs/workloads"));
}

void read_offers_in_yaml(std::string_view text) {
  for (const Offer& offer : load_offers(as_file(text), known_names())) {
    require(offer.gpus >= 0, "an offer has less than no GPUs");
  }
}

void read_a_model(std::string_view text) {
  const Transformer model = load_config_json(as_file(text), std::nullopt);
  require(parameters_of(model) > 0, "a model has no parameters");
  require(forward_flops_of(model) > 0 && kept_elements_of_layer(model) > 0, "a model computes nothing");
}

constexpr std::array kTargets = {
    Target{"document", read_a_document},  Target{"tree", read_a_tree},
    Target{"value", read_a_value},        Target{"machine", read_a_machine},
    Target{"scenario", read_a_scenario},  Target{"workload", read_a_workload},
    Target{"plan", read_a_plan},          Target{"offers_yaml", read_offers_in_yaml},
    Target{"model_config", read_a_model},
};

}  // namespace

std::span<const Target> yaml_targets() { return kTargets; }

}  // namespace ringside::fuzz
