#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/names.hpp"
#include "common/units.hpp"
#include "real/execute/rank_backend.hpp"

namespace ringside {

/// All that a collective depends on once it is ready to run.
struct CollectiveKey {
  Collective collective = Collective::all_reduce;
  std::string algorithm;
  Rank root = 0;
  ReduceOp op = ReduceOp::sum;
  DataType dtype = DataType::float32;
  std::int64_t num_elements = 0;  ///< Elements of all ranks together, where each has a part.
  std::byte* memory = nullptr;    ///< Borrowed, where the backend works; null: a message of its own.

  auto operator<=>(const CollectiveKey&) const = default;
  std::size_t bytes() const { return static_cast<std::size_t>(num_elements) * size_of(dtype); }
};

/// A collective that is ready to run, in place on `message`, which is where the backend works.
struct ReadyCollective {
  std::function<void()> run = {};  ///< Holds all that it needs.
  MemoryPiece message = {};
  std::int64_t bytes_sent = 0;  ///< By one run at this rank; 0 of the backend's own, which does not tell.
};

/// Collectives of one rank, made ready when first asked for and kept: training repeats them.
class ReadyCollectives {
 public:
  /// Both outlive this; `device` may be null: the CPU.
  ReadyCollectives(RankBackend& backend, DeviceCalls* device) : backend_(backend), device_(device) {}

  /// Throws Error{bad_input} where there is no such algorithm, or the backend has none of its own.
  ReadyCollective& at(const CollectiveKey& key);

 private:
  ReadyCollective of_schedule(const CollectiveKey& key);
  ReadyCollective of_backend(const CollectiveKey& key);
  int num_ranks() const { return backend_.transport->num_ranks(); }

  RankBackend& backend_;
  DeviceCalls* device_;
  std::map<CollectiveKey, ReadyCollective> ready_;
};

}  // namespace ringside
