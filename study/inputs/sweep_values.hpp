#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"

/// `--sweep KEY=FROM:TO:STEP`: one key of a scenario or machine over a range of values.
namespace ringside::study {

struct Sweep {
  std::string key;                  ///< `ranks`, `bytes`, or a key of the machine such as `intra.bandwidth`
  std::vector<std::string> values;  ///< as YAML takes them: `5000000000 B/s`, `4`
  bool range = false;               ///< The values are steps of a range.
};

/// STEP is `2x` (multiply by 2), `log10` (10 values, evenly spaced in the logarithm), `lin10` (10 values,
/// evenly spaced) or a quantity that is added (`4`, `10GB/s`); a comma-separated list instead of a range is
/// taken as it is. Throws Error{bad_input}.
Sweep parse_sweep(std::string_view text);

/// What messages call a value of a sweep: `--sweep bandwidth=5 GB/s`.
std::string origin_of(const Sweep& sweep, const std::string& value);

/// A value of a sweep as people read it: `5 GB/s` instead of `5000000000 B/s`.
std::string readable(const std::string& value);

/// The swept number of ranks or of ranks on a node. Throws KeyError.
int whole_number(const std::string& key, const std::string& text);

/// A size that is listed holds whole elements; the steps of a range are taken to as many as they hold. Throws
/// KeyError.
Bytes size_of_message(const std::string& text, bool step_of_range, DataType dtype);

/// Throws Error{bad_input} with the nearest name for a sweep whose key is neither in `known` (whole paths
/// such as `intra.bandwidth`) nor the last word of one. `what` says of what they are keys.
void require_known_keys(std::span<const Sweep> sweeps, std::span<const std::string> known,
                        std::string_view what);

/// Every combination of the sweeps' values, the last sweep fastest; one empty combination when there is none.
std::vector<std::vector<std::string>> combinations(std::span<const Sweep> sweeps);

}  // namespace ringside::study
