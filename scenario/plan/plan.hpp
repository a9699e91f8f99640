#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.hpp"
#include "scenario/machine/machine.hpp"
#include "scenario/machine/named_machine.hpp"
#include "scenario/plan/money.hpp"
#include "scenario/plan/sharding.hpp"
#include "scenario/plan/workload.hpp"
#include "scenario/scenario.hpp"

/// A plan: a workload, how its gradients are synchronised, and the machines on offer (docs/planning.md).
/// Loaded from YAML, checked completely before anything is predicted.
namespace ringside {

/// How the gradients of a step become all_reduces.
enum class Synchronisation {
  ddp,                  ///< Buckets, each as soon as its gradients are there, beside the backward pass.
  ddp_without_overlap,  ///< The same buckets after the backward pass.
  one_bucket,           ///< All gradients as one flat message after the backward pass.
  per_tensor,           ///< A message per parameter tensor after the backward pass, as tutorials write it.
};

/// The defaults are those of DistributedDataParallel (pytorch reducer.hpp: kDefaultBucketBytesCap,
/// kDefaultFirstBucketBytes).
struct SynchronisationSettings {
  Synchronisation style = Synchronisation::ddp;
  Bytes bucket{25 << 20};
  Bytes first_bucket{1 << 20};
  int accumulate = 1;  ///< Passes per step; only the last one synchronises (`no_sync`).

  bool operator==(const SynchronisationSettings&) const = default;

  /// All but `accumulate` is as DDP has it.
  bool only_accumulates() const { return *this == SynchronisationSettings{.accumulate = accumulate}; }
};

/// A machine that somebody rents out, or part of one.
struct Offer {
  std::string name;
  std::string source = {};  ///< For people: the file, and what it is called there.
  Machine machine = {};
  int gpus = 0;  ///< Rented, which may be fewer than the machine has.
  /// Price of the whole offer for an hour; none = the price is not known.
  std::optional<Money> per_hour = {};
  std::optional<std::string> as_of = {};  ///< When that was its price.
  std::optional<Seconds> available = {};  ///< For how long it can be rented; none = not said.
  std::optional<Seconds> minimum = {};    ///< That is billed at least.
  bool interruptible = false;             ///< Spot: it can be taken away at any time.
  /// What the listing does not say and was taken for granted, whole sentences.
  std::vector<std::string> assumptions = {};
  /// What to know before renting, whole sentences.
  std::vector<std::string> warnings = {};
  /// Why nothing can be predicted for it; empty = it can.
  std::string problem = {};
};

/// What interruptible offers lose: work since the last checkpoint, and time to start again elsewhere.
struct Interruptions {
  Seconds every{24 * 3600.0};  ///< Mean time between two of them.
  Seconds checkpoint_every{30 * 60.0};
  Seconds checkpoint_takes{60};
  Seconds restart{10 * 60.0};

  bool operator==(const Interruptions&) const = default;

  /// Time of a run over that without interruptions and checkpoints: each loses half a checkpoint interval.
  double slowdown() const;
};

struct Plan {
  std::string name;
  Workload workload;
  SynchronisationSettings synchronisation;
  std::string algorithm = "native";  ///< What synchronises: `native` or a registry name.
  /// Algorithms that it is compared with on the best offers.
  std::vector<std::string> alternatives = {"naive", "tutorial_ring", "ring"};
  /// Ways to spread a language model over GPUs; empty = plain data parallelism.
  std::vector<Layout> sharding = {};
  bool search = false;                            ///< Among all ways, instead of those.
  std::optional<Seconds> deadline = {};           ///< Longest time of the whole run.
  std::optional<Money> budget = {};               ///< Likewise.
  std::vector<ExchangeRate> exchange_rates = {};  ///< At most one between two currencies.
  Interruptions interruptions = {};
  std::vector<Offer> offers = {};
  std::filesystem::path file = {};

  /// It asks for ways to spread a language model.
  bool shards() const { return search || !sharding.empty(); }
};

/// Whether a plan or a workload has such a key.
bool is_plan_key(std::string_view key);

/// Throws Error{bad_input} that lists every problem as `file:line:column: key: what`. Relative paths are
/// relative to the file. A plan without offers is fine: they may come from elsewhere. `workloads`: the folder
/// of files that `workload` may name without ending, with tensor lists in `tensors`. `overrides` are for keys
/// of the plan or of its workload; those of a machine are left alone.
Plan load_plan(const std::filesystem::path& file, const KnownNames& known,
               const std::filesystem::path& workloads, const std::vector<KeyOverride>& overrides = {});

/// The machine of a name (`p4d.24xlarge`, `2 x p4d.24xlarge`) or a file relative to the folder of `origin`.
/// Throws Error{bad_input} with the nearest name.
Machine machine_named(const std::string& name, const std::filesystem::path& origin, const KnownNames& known);

/// A YAML file with the one key `offers`, as in a plan.
std::vector<Offer> load_offers(const std::filesystem::path& file, const KnownNames& known);

}  // namespace ringside
