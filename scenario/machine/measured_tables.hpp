#pragma once

#include "scenario/machine/machine.hpp"
#include "scenario/yaml/map_table.hpp"

/// The parts of a machine file that hold measurements.
namespace ringside {

MapTable<Calibrated> calibrated_table();

/// An entry of `known`, a map of one key: `p2p`, `native` or the name of an algorithm.
ValueType<Known> known_type();

}  // namespace ringside
