#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/spellings.hpp"
#include "scenario/yaml/keys.hpp"
#include "scenario/yaml/reader.hpp"

/// How a model that one GPU cannot hold is spread over GPUs.
namespace ringside {

/// What data-parallel ranks keep whole, and what is cut (Rajbhandari et al. 2020, arXiv 1910.02054).
enum class ShardingStyle {
  ddp,     ///< Nothing is cut.
  zero1,   ///< Optimizer states.
  zero2,   ///< And gradients.
  zero3,   ///< And weights, gathered layer by layer.
  fsdp,    ///< The same, as PyTorch does it.
  hybrid,  ///< The same within every node, whose copies are kept equal (FSDP's HYBRID_SHARD).
};

/// Whether all weights are trained, or small matrices beside frozen ones (Hu et al. 2021, arXiv 2106.09685),
/// which are kept in four bits with qlora (Dettmers et al. 2023, arXiv 2305.14314).
enum class Adapters { none, lora, qlora };

/// What a backward pass computes again instead of keeping it (Korthikanti et al. 2022, arXiv 2205.05198,
/// section 5): nothing, attention alone, or all of a layer but its input.
enum class Checkpointing { none, selective, full };

/// What leaves the GPU for its host, whose CPUs update it: optimizer states and gradients (ZeRO-Offload: Ren
/// et al. 2021, arXiv 2101.06840), or weights too (FSDP's CPUOffload).
enum class Offload { none, optimizer, parameters };

struct Layout {
  ShardingStyle style = ShardingStyle::ddp;
  Adapters adapters = Adapters::none;
  int rank = 16;        ///< Rank of adapters.
  int tensor = 1;       ///< GPUs that share every matrix, of one node.
  int pipeline = 1;     ///< Stages.
  int interleave = 1;   ///< Parts of the model that every stage has.
  int context = 1;      ///< GPUs that share every sequence (Liu et al. 2023, arXiv 2310.01889).
  int expert = 1;       ///< Data-parallel ranks that share the experts of a layer.
  int local_steps = 1;  ///< Steps between two synchronisations (local SGD); weights are averaged then.
  std::optional<Checkpointing> checkpointing =
      {};  ///< None = `full` with qlora; else `none`, or `full` of as many layers as memory asks for.
  double checkpointed = 1;  ///< Share of the layers that `full` is about.
  Offload offload = Offload::none;
  // On an offer, whose other GPUs they are:
  int data = 1;          ///< GPUs that hold the same part.
  int data_on_node = 1;  ///< Those of them on one node.

  bool operator==(const Layout&) const = default;

  /// Whether ranks gather the weights of a layer before they compute with it.
  bool cuts_weights() const {
    return style == ShardingStyle::zero3 || style == ShardingStyle::fsdp || style == ShardingStyle::hybrid;
  }
  /// Share of the layers that a backward pass computes again.
  double recomputed() const { return checkpointing == Checkpointing::full ? checkpointed : 0; }
  /// GPUs that have the same weights to train: `data` times those of a sequence.
  int copies() const { return data * context; }
};

/// `fsdp`, `qlora`, `zero1 · tensor 8 · pipeline 2 · checkpointing`: for tables.
std::string describe(const Layout& sharding);

/// A word: a style, `lora`, `qlora`, or `offload` for zero2 with the optimizer on the host. None for others.
std::optional<Layout> parse_sharding(std::string_view word);
std::vector<std::string> sharding_words();

std::string sharding_form();
std::vector<KeyDescription> sharding_keys();
/// Words, maps, or one of them; empty after a problem was added.
std::vector<Layout> read_shardings(Reader& reader, const Value& value);

}  // namespace ringside
