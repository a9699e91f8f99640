#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/point.hpp"
#include "scenario/scenario.hpp"
#include "study/ranks/observer.hpp"

/// From a scenario file to points.
namespace ringside::study {

/// Names for the loaders of scenarios, plans and machines: algorithms and shipped machines.
KnownNames known_names();

/// The scenario of a file, or the one that `FILE#NAME` names.
Scenario read_scenario(const std::filesystem::path& file);

/// A machine file, or a shipped name. Throws Error{bad_input}; `asked`: where it stands (`--machine`).
Machine read_machine(const std::filesystem::path& file, const std::string& asked);

/// What `measured:` of a scenario holds, of each point the first; the scenario says what the file does not.
std::vector<Point> read_measured(const Scenario& scenario, const Observer& observer);

PointKey key_of(const Scenario& scenario, const std::string& algorithm, int ranks, Bytes bytes);

/// Every point of a scenario: by ranks, then size, then algorithm, so that drift hits the algorithms alike.
std::vector<PointKey> points_of(const Scenario& scenario);

/// The same, of which nothing is known yet.
std::vector<Point> open_points(const std::vector<PointKey>& keys);

}  // namespace ringside::study
