#pragma once

#include <string>
#include <vector>

/// What a key is, as data.
namespace ringside {

struct KeyDescription {
  std::string path;  ///< `intra.bandwidth`; a key of the maps of a list likewise: `links.from`
  std::string form;  ///< How its value is written: "a time such as `10 us`".
  std::vector<std::string> allowed = {};  ///< Every word that is allowed; empty = not a closed set.
  bool required = false;                  ///< In its map, where the map is given (and of one of `kinds`).
  std::string default_value = {};         ///< As it would be written; empty = none.
  std::vector<std::string> kinds = {};    ///< Values of `kind` that take this key; empty = all.
  std::vector<std::string> required_by =
      {};  ///< The ones of `kinds` that need it, if it is required; empty = all.
};

}  // namespace ringside
