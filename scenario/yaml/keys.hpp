#pragma once

#include <string>
#include <vector>

/// What the keys of scenario, machine, workload and plan files are, as data: the loader, the JSON Schemas (configs/*.schema.json) and
/// docs/scenario.md are compared with it.
namespace ringside {

struct KeyDescription {
  std::string path;     ///< `intra.bandwidth`; a key of the maps of a list likewise: `links.from`
  std::string meaning;  ///< One sentence or two.
  std::string form;     ///< How its value is written: "a time such as `10 us`".
  std::vector<std::string> allowed = {};  ///< Every word that is allowed; empty = not a closed set.
  bool required = false;                  ///< In its map, where the map is given (and of one of `kinds`).
  std::string default_value = {};         ///< As it would be written; empty = none.
  std::vector<std::string> kinds = {};    ///< Values of `kind` that take this key; empty = all.
  std::vector<std::string> required_by =
      {};                ///< The ones of `kinds` that need it, if it is required; empty = all.
  bool retired = false;  ///< Read in files that older versions wrote, and not described.
};

/// In the order of docs/scenario.md. A scenario's inline machine takes the keys of machine_keys().
std::vector<KeyDescription> scenario_keys();
std::vector<KeyDescription> machine_keys();
std::vector<KeyDescription> workload_keys();
std::vector<KeyDescription> plan_keys();

}  // namespace ringside
