#pragma once

#include <nlohmann/json_fwd.hpp>

/// Questions of the page as JSON, and their answers. Files that a question names lie in the browser's memory.
namespace ringside::web {

/// `{"ask": "predict", …}` → the answer; each key is named where it is read. Throws Error{bad_input}.
nlohmann::ordered_json answer(const nlohmann::json& question);

}  // namespace ringside::web
