#pragma once

#include <variant>

#include "results/point.hpp"
#include "results/prediction.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/nccl/native.hpp"

/// From a machine and a point to seconds: the entry point of sim/ that commands use.
namespace ringside {

/// What the machine's description or calibration says, conditioned on what is known of this very machine
/// (`machine.known`). Throws Error{bad_input} for a machine that cannot be (see build_network) and for a
/// fidelity that does not hold on this network (`closed_form` on a shared one), with the reason.
std::variant<Prediction, Unpredicted> predict(const Machine& machine, const PointKey& key,
                                              const PredictOptions& options);

}  // namespace ringside
