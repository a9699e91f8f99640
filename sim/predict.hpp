#pragma once

#include <optional>
#include <string>
#include <variant>

#include "common/point_key.hpp"
#include "scenario/machine.hpp"
#include "sim/prediction.hpp"

/// From a machine and a point to a price: the one door of sim/ that commands use.
namespace ringside {

struct PredictOptions {
  Fidelity fidelity = Fidelity::automatic;
  Backend backend = Backend::automatic;  ///< Whose `native` is meant.
  bool force = false;                    ///< Price even where it would take very long.
};

/// Why there is no prediction: the algorithm does not support this point, or nothing is known of `native` here.
struct Unpredicted {
  std::string reason;
};

/// Throws Error{bad_input} for a machine that cannot be (see build_network) and for a fidelity that cannot price
/// this network (`closed_form` on a shared one), with the reason.
std::variant<Prediction, Unpredicted> predict(const Machine& machine, const PointKey& key,
                                              const PredictOptions& options);

}  // namespace ringside
