#pragma once

#include "scenario/machine.hpp"
#include "scenario/map_table.hpp"

namespace ringside {

/// The keys of a machine file. The table does not know the file: `name` may stay empty, `origin` does.
MapTable<Machine> machine_table();

}  // namespace ringside
