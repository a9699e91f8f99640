#include "scenario/plan/sharding.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

constexpr int kMostParts = 100'000;

MapTable<Layout> sharding_table() {
  const auto parts = whole_number_type({.min = 1, .max = kMostParts});
  return {
      .form = "a map such as `{style: fsdp, tensor: 2}`",
      .rows = {row<&Layout::style>(choice_type<ShardingStyle>("style of sharding"), {.default_value = "ddp"}),
               row<&Layout::adapters>(choice_type<Adapters>("kind of adapters"), {.default_value = "none"}),
               row<&Layout::rank>(parts, {.default_value = "16"}),
               row<&Layout::tensor>(parts, {.default_value = "1"}),
               row<&Layout::pipeline>(parts, {.default_value = "1"}),
               row<&Layout::interleave>(parts, {.default_value = "1"}),
               row<&Layout::context>(parts, {.default_value = "1"}),
               row<&Layout::expert>(parts, {.default_value = "1"}),
               row<&Layout::local_steps>(parts, {.default_value = "1"}),
               row<&Layout::checkpointing>(choice_type<Checkpointing>("kind of checkpointing")),
               row<&Layout::offload>(choice_type<Offload>("kind of offload"), {.default_value = "none"})}};
}

/// Why nothing can leave the GPU so; empty = it can.
std::string cannot_offload(const Layout& way) {
  if (way.offload == Offload::parameters && !way.cuts_weights()) {
    return "is of weights that ranks cut among them: write style zero3, fsdp or hybrid";
  }
  if (way.offload == Offload::optimizer && way.style == ShardingStyle::ddp) {
    return "is of states that ranks cut among them: write style zero1, zero2, zero3, fsdp or hybrid";
  }
  return way.offload == Offload::optimizer && way.adapters != Adapters::none
             ? "is of the states of all weights, and adapters have few; write none, or parameters with fsdp"
             : "";
}

std::optional<Layout> read_one(Reader& reader, const Value& value) {
  if (value.node.IsMap()) {
    const auto way = read_map(reader, value, sharding_table());
    if (way && way->adapters == Adapters::none && reader.find(value, "rank")) {
      reader.fail(*reader.find(value, "rank"), "is of adapters, and this way has none");
    }
    if (way && way->pipeline == 1 && way->interleave > 1) {
      reader.fail(*reader.find(value, "interleave"), "is of a pipeline, and this way has one stage");
    }
    if (const std::string why = way ? cannot_offload(*way) : std::string(); !why.empty()) {
      reader.fail(*reader.find(value, "offload"), why);
    }
    return way;
  }
  const auto word = word_type("way to shard", sharding_words()).read(reader, value);
  return word ? parse_sharding(*word) : std::nullopt;
}

}  // namespace

std::string describe(const Layout& sharding) {
  std::string text(sharding.adapters == Adapters::none ? name(sharding.style) : name(sharding.adapters));
  if (sharding.adapters != Adapters::none && sharding.style != ShardingStyle::ddp) {
    text += fmt::format(" · {}", name(sharding.style));
  }
  for (const auto& [what, parts] :
       {std::pair("tensor", sharding.tensor), std::pair("pipeline", sharding.pipeline),
        std::pair("interleave", sharding.interleave), std::pair("context", sharding.context),
        std::pair("expert", sharding.expert)}) {
    text += parts > 1 ? fmt::format(" · {} {}", what, parts) : "";
  }
  if (sharding.local_steps > 1) {
    text += fmt::format(" · {} local steps", sharding.local_steps);
  }
  if (sharding.checkpointing == Checkpointing::selective) {
    text += " · selective checkpointing";
  }
  const double again = sharding.recomputed();
  if (again > 0) {
    text += " · checkpointing" + (again < 1 ? fmt::format(" {} of layers", percent(again)) : "");
  }
  if (sharding.offload != Offload::none) {
    text += fmt::format(" · {} on the host", name(sharding.offload));
  }
  return text;
}

std::optional<Layout> parse_sharding(std::string_view word) {
  if (const auto style = parse_name<ShardingStyle>(word)) {
    return Layout{.style = *style};
  }
  if (word == "offload") {
    return Layout{.style = ShardingStyle::zero2, .offload = Offload::optimizer};
  }
  const auto adapters = parse_name<Adapters>(word);
  return adapters && *adapters != Adapters::none ? std::optional(Layout{.adapters = *adapters})
                                                 : std::nullopt;
}

std::vector<std::string> sharding_words() {
  std::vector<std::string> words = names_of<ShardingStyle>();
  words.insert(words.end(), {"lora", "qlora", "offload"});
  return words;
}

std::string sharding_form() {
  return "a list such as `[fsdp, qlora, {style: zero1, tensor: 8}]`, one of these, or `search`";
}

std::vector<KeyDescription> sharding_keys() { return keys_of(sharding_table()); }

std::vector<Layout> read_shardings(Reader& reader, const Value& value) {
  std::vector<Layout> ways;
  const auto add = [&](const Value& one) {
    const auto way = read_one(reader, one);
    if (way && std::ranges::find(ways, *way) != ways.end()) {
      reader.fail(one, "is listed twice");
    } else if (way) {
      ways.push_back(*way);
    }
  };
  if (!value.node.IsSequence()) {
    add(value);
  } else {
    for (const Value& item : reader.items(value)) {
      add(item);
    }
  }
  return ways;
}

}  // namespace ringside
