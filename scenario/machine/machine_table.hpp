#pragma once

#include <cstdint>
#include <optional>

#include "scenario/machine/machine.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {

/// The keys of a machine file. The table does not know the file: `name` may stay empty, `origin` does.
const MapTable<Machine>& machine_table();

/// The key `price` of machines and offers.
MapTable<Price> price_table();

/// The keys of `software`, of a machine and of a scenario.
MapTable<Software> software_table();

/// GPUs of all nodes; nothing when the machine has as many as are needed.
std::optional<std::int64_t> num_gpus(const Machine& machine);

}  // namespace ringside
