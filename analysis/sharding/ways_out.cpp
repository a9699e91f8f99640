#include "analysis/sharding/ways_out.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

bool lacks_memory(const PlannedStep& step) {
  return !step.usable() && step.gpu_memory && step.memory.total() > *step.gpu_memory;
}

double share_of_memory(const PlannedStep& step) {
  return static_cast<double>(step.memory.total().value) / static_cast<double>(step.gpu_memory->value);
}

/// Whether memory is enough, whatever the step takes.
bool holds(const Plan& plan, const Offer& offer, const Layout& layout) {
  const PlannedStep step = Planner(plan).estimate(offer, layout, 1);
  return step.gpu_memory && step.memory.total() <= *step.gpu_memory;
}

/// The longest sequence in halves of the plan's that fits; none = not even kLeast tokens.
std::optional<std::int64_t> shorter_sequence(Plan plan, const Offer& offer, const Layout& layout) {
  constexpr std::int64_t kLeast = 128;
  std::int64_t& sequence = plan.workload.transformer->sequence;
  for (sequence /= 2; sequence >= kLeast; sequence /= 2) {
    if (holds(plan, offer, layout)) {
      return sequence;
    }
  }
  return std::nullopt;
}

/// How many of its nodes would be enough.
std::optional<int> more_nodes(const Plan& plan, Offer offer, const Layout& layout) {
  constexpr int kMost = 64;
  const int gpus = offer.gpus;
  const int nodes = offer.machine.nodes;
  for (int times = 2; times * nodes <= kMost; ++times) {
    offer.gpus = times * gpus;
    offer.machine.nodes = times * nodes;
    if (holds(plan, offer, layout)) {
      return times * nodes;
    }
  }
  return std::nullopt;
}

}  // namespace

bool wants_layouts(const Ranked& ranked) {
  const Plan& plan = ranked.plan;
  return plan.workload.transformer && !plan.shards() && plan.algorithm == kNative &&
         plan.synchronisation.only_accumulates() &&
         std::ranges::any_of(ranked.candidates, [](const RankedStep& one) { return lacks_memory(one.step); });
}

std::string ways_out(const Ranked& ranked) {
  const RankedStep* nearest = nullptr;
  for (const RankedStep& one : ranked.candidates) {
    if (lacks_memory(one.step) &&
        (nearest == nullptr || share_of_memory(one.step) < share_of_memory(nearest->step))) {
      nearest = &one;
    }
  }
  if (nearest == nullptr || !ranked.plan.workload.transformer) {
    return {};
  }
  const Plan& plan = ranked.plan;
  const Offer& offer = ranked.offers[nearest->offer];
  const Layout fsdp{.style = offer.gpus > 1 ? ShardingStyle::fsdp : ShardingStyle::ddp};
  std::vector<std::string> ways;
  if (!plan.search && Planner(plan).search(offer).front().usable()) {
    ways.emplace_back("a layout that --search finds");
  }
  for (const Adapters adapters : {Adapters::lora, Adapters::qlora}) {
    if (holds(plan, offer, {.adapters = adapters})) {
      ways.push_back(fmt::format("--shard {}", name(adapters)));
    } else if (holds(plan, offer, {.style = fsdp.style, .adapters = adapters})) {
      ways.push_back(
          fmt::format("`sharding: {{style: {}, adapters: {}}}` in a plan", name(fsdp.style), name(adapters)));
    }
  }
  if (holds(plan, offer, *parse_sharding("offload"))) {
    ways.emplace_back("--shard offload");
  } else if (holds(plan, offer, {.style = ShardingStyle::fsdp, .offload = Offload::parameters})) {
    ways.emplace_back("`sharding: {style: fsdp, offload: parameters}` in a plan");
  }
  if (const auto sequence = shorter_sequence(plan, offer, fsdp)) {
    ways.push_back(fmt::format("--sequence {} with {}", *sequence, name(fsdp.style)));
  }
  if (const auto nodes = more_nodes(plan, offer, {.style = ShardingStyle::fsdp})) {
    ways.push_back(fmt::format("{} of it with fsdp", count_of(*nodes, "node")));
  }
  if (const auto sequence = shorter_sequence(plan, offer, {.adapters = Adapters::qlora});
      sequence && ways.empty()) {
    ways.push_back(fmt::format("--shard qlora with --sequence {}", *sequence));
  }
  return ways.empty()
             ? fmt::format("On {} neither adapters nor shorter sequences nor more nodes fit.", offer.name)
             : fmt::format("To fit {}: {}.", offer.name, fmt::join(ways, "; or "));
}

}  // namespace ringside
