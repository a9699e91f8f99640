#pragma once

#include <vector>

#include "scenario/yaml/keys.hpp"

/// Every key of the files that people write, with which the JSON Schemas (configs/*.schema.json),
/// docs/scenario.md and docs/planning.md are compared.
namespace ringside {

/// In the order of docs/scenario.md. A scenario's inline machine takes the keys of machine_keys().
std::vector<KeyDescription> scenario_keys();
std::vector<KeyDescription> machine_keys();
std::vector<KeyDescription> workload_keys();
std::vector<KeyDescription> plan_keys();

}  // namespace ringside
