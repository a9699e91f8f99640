#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/planner.hpp"
#include "scenario/scenario.hpp"

/// Published trainings of language models, planned from words alone.
namespace ringside {

/// A row of configs/scaling/language_models.csv.
struct PublishedRun {
  std::string run;  ///< What its source calls it.
  std::string source;
  std::optional<double> step_seconds = {};  ///< None: its memory alone is published.
  std::optional<double> memory_gb = {};     ///< At the peak, of one GPU, in 10^9 bytes.
  bool tensors_alone = false;               ///< That is what PyTorch allocated, not all that the GPU held.
  bool out_of_memory = false;               ///< It did not fit.
  Plan plan = {};                           ///< One way on one offer.

  const Layout& layout() const { return plan.sharding.front(); }
  const Offer& offer() const { return plan.offers.front(); }
  const Transformer& model() const { return *plan.workload.transformer; }
};

/// Throws Error{bad_input} that names the file, line and column.
std::vector<PublishedRun> load_published_runs(const std::filesystem::path& table, const KnownNames& known);

/// Whether the first line of a table is that of published runs.
bool is_table_of_runs(const std::filesystem::path& table);

struct RunCheck {
  PublishedRun run;
  PlannedStep step;  ///< Planned with what was fitted to all other sources.

  /// Planned over published; none where it cannot be planned, or its time is not published.
  std::optional<double> ratio() const;
  bool inside() const;
  /// Planned memory of what `memory_gb` counts.
  double planned_gb() const;
};

std::vector<RunCheck> check_runs(std::vector<PublishedRun> runs);

}  // namespace ringside
