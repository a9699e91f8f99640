#include "study/inputs/scenario_points.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "import/import.hpp"
#include "scenario/plan/plan.hpp"
#include "schedule/registry.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::study {
namespace {

/// What scenarios and plans may name.
std::vector<std::string> scenario_algorithms(Collective collective) {
  std::vector<std::string> names = algorithm_names(collective);
  names.emplace_back(kNative);
  return names;
}

}  // namespace

KnownNames known_names() {
  const auto configs = configs_directory();
  return {.algorithms = scenario_algorithms,
          .machines = configs ? std::optional(*configs / "machines") : std::nullopt};
}

Scenario read_scenario(const std::filesystem::path& file) { return load_scenario(file, known_names()); }

Machine read_machine(const std::filesystem::path& file, const std::string& asked) {
  std::error_code ignored;
  const KnownNames known = known_names();
  if (std::filesystem::exists(file, ignored) || file.extension() == ".yaml") {
    return load_machine(file);
  }
  if (!known.machines) {
    throw lacking("{}: {} is no file, and {}", asked, file.string(), missing_files("machines"));
  }
  if (file == "this") {
    throw bad_input(
        "{} this: nothing is known of this machine before `ringside calibrate`, which "
        "writes a machine file",
        asked);
  }
  return machine_named(file.string(), asked, known);
}

std::vector<Point> read_measured(const Scenario& scenario, const Observer& observer) {
  ImportDefaults defaults{.dtype = scenario.dtype, .op = scenario.op};
  if (scenario.ranks.size() == 1) {
    defaults.ranks = scenario.ranks.front();
  }
  if (scenario.is_system) {
    defaults.system = scenario.name;
  }
  const Import import = import_measurements(*scenario.measured, defaults);
  for (const std::string& note : import.notes) {
    observer.note(fmt::format("{}: {}", scenario.measured->filename().string(), note));
  }
  Merged merged = merge(import.series);
  if (merged.repeated > 0) {
    observer.note(fmt::format("{}: {} points are there more than once; the first of each counts",
                              scenario.measured->filename().string(), merged.repeated));
  }
  return std::move(merged.points);
}

PointKey key_of(const Scenario& scenario, const std::string& algorithm, int ranks, Bytes bytes) {
  return {.collective = scenario.collective,
          .algorithm = algorithm,
          .ranks = ranks,
          .bytes = bytes,
          .dtype = scenario.dtype,
          .op = scenario.op};
}

std::vector<PointKey> points_of(const Scenario& scenario) {
  std::vector<PointKey> keys;
  for (const int ranks : scenario.ranks) {
    for (const Bytes bytes : scenario.message_sizes) {
      for (const std::string& algorithm : scenario.algorithms) {
        keys.push_back(key_of(scenario, algorithm, ranks, bytes));
      }
    }
  }
  return keys;
}

std::vector<Point> open_points(const std::vector<PointKey>& keys) {
  return mapped(keys, [](const PointKey& key) { return Point{.key = key, .predicted = {}, .measured = {}}; });
}

}  // namespace ringside::study
