#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenario/machine/machine.hpp"
#include "scenario/yaml/document.hpp"
#include "scenario/yaml/map_table.hpp"
#include "scenario/yaml/reader.hpp"
#include "scenario/yaml/value_type.hpp"

/// What load_machine() and a scenario's `machine:` share. Nothing is returned after a problem was added.
namespace ringside {

/// `algorithms`: names that `known` may use; empty = not checked.
std::optional<Machine> read_machine_file(const std::filesystem::path& file, const std::string& shown,
                                         std::vector<Problem>& problems,
                                         const std::vector<std::string>& algorithms);

/// A machine that stands in `value`; `default_name` is its name when it says none.
std::optional<Machine> read_machine(Reader& reader, const Value& value, const std::string& default_name);

/// A name that is also the name of a folder of results.
ValueType<std::string> folder_name_type();

/// The keys of a machine file. The table does not know the file: `name` may stay empty, `origin` does.
const MapTable<Machine>& machine_table();

/// The key `price` of machines and offers.
MapTable<Price> price_table();

/// The keys of `software`, of a machine and of a scenario.
MapTable<Software> software_table();

/// GPUs of all nodes; nothing when the machine has as many as are needed.
std::optional<std::int64_t> num_gpus(const Machine& machine);

// How GPUs and nodes are linked.
MapTable<IntraLink> intra_table();
MapTable<InterLink> inter_table();
MapTable<LinkSpec> link_table();

/// What can only be judged when all explicit links are known; `place` is that of their list.
void check_links(Reader& reader, const Value& place, const Machine& machine);

MapTable<Calibrated> calibrated_table();

/// An entry of `known`, a map of one key: `p2p`, `native` or the name of an algorithm.
ValueType<Known> known_type();

}  // namespace ringside
