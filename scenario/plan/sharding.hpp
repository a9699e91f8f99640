#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/yaml/keys.hpp"
#include "scenario/yaml/reader.hpp"

/// How a model that one GPU cannot hold is spread over GPUs.
namespace ringside {

/// What every data-parallel rank keeps whole, and what is cut among them (Rajbhandari et al. 2020, arXiv 1910.02054).
enum class ShardingStyle {
  ddp,     ///< Nothing is cut.
  zero1,   ///< Optimizer states.
  zero2,   ///< And gradients.
  zero3,   ///< And weights, gathered layer by layer.
  fsdp,    ///< The same, as PyTorch does it.
  hybrid,  ///< The same within every node, whose copies are kept equal (FSDP's HYBRID_SHARD).
};

/// Whether all weights are trained, or small matrices beside frozen ones (Hu et al. 2021, arXiv 2106.09685), which are kept in four
/// bits with qlora (Dettmers et al. 2023, arXiv 2305.14314).
enum class Adapters { none, lora, qlora };

std::string_view name(ShardingStyle style);
std::string_view name(Adapters adapters);

struct Layout {
  ShardingStyle style = ShardingStyle::ddp;
  Adapters adapters = Adapters::none;
  int rank = 16;        ///< Rank of adapters.
  int tensor = 1;       ///< GPUs that share every matrix, of one node.
  int pipeline = 1;     ///< Stages.
  int interleave = 1;   ///< Parts of the model that every stage has.
  int expert = 1;       ///< Data-parallel ranks that share the experts of a layer.
  int local_steps = 1;  ///< Steps between two synchronisations (local SGD); weights are averaged then.
  /// Whether activations are computed again in the backward pass; none = only where memory asks for it.
  std::optional<bool> checkpointing = {};
  // On an offer, whose other GPUs they are:
  int data = 1;          ///< GPUs that hold the same part.
  int data_on_node = 1;  ///< Those of them on one node.

  bool operator==(const Layout&) const = default;
};

/// `fsdp`, `qlora`, `zero1 · tensor 8 · pipeline 2 · checkpointing`: for tables.
std::string describe(const Layout& sharding);

/// A word: a style, `lora` or `qlora`. None for any other.
std::optional<Layout> parse_sharding(std::string_view word);
std::vector<std::string> sharding_words();

std::string sharding_form();
std::vector<KeyDescription> sharding_keys();
/// Words, maps, or one of them; empty after a problem was added.
std::vector<Layout> read_shardings(Reader& reader, const Value& value);

}  // namespace ringside
