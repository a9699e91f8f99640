#pragma once

#include <vector>

#include "scenario/machine/machine.hpp"
#include "scenario/yaml/map_table.hpp"

/// How far the probes of a calibrated machine lay apart, as YAML.
namespace ringside {

/// A curve over the message size; a plain number, which is quicker to write by hand, is one of a single point.
ValueType<std::vector<SpreadPoint>> spread_type();

MapTable<Disturbance> disturbance_table();

}  // namespace ringside
