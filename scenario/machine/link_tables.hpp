#pragma once

#include "scenario/machine/machine.hpp"
#include "scenario/yaml/map_table.hpp"

/// The maps of a machine file that say how GPUs and nodes are linked.
namespace ringside {

MapTable<IntraLink> intra_table();
MapTable<InterLink> inter_table();
MapTable<LinkSpec> link_table();

/// What can only be judged when all explicit links are known; `place` is that of their list.
void check_links(Reader& reader, const Value& place, const Machine& machine);

}  // namespace ringside
