#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/spellings.hpp"
#include "results/point.hpp"
#include "results/prediction.hpp"
#include "results/trace_event.hpp"
#include "scenario/machine/machine.hpp"
#include "schedule/schedule.hpp"
#include "sim/mpi/rules.hpp"

/// Times of schedules on a described or calibrated machine: closed form, replay or flow simulation.
namespace ringside {

/// Whose answer for NCCL's own collectives: ours, NCCL's cost table, or the textbook's α-β model.
enum class NativeModel { ringside, nccl_tuner, alpha_beta };

struct PredictOptions {
  Fidelity fidelity = Fidelity::automatic;
  Backend backend = Backend::automatic;              ///< The library whose `native` is meant.
  NativeModel native_model = NativeModel::ringside;  ///< Which model of NCCL's own collectives.
  bool force = false;                                ///< Predict even where that would take very long.
  bool interval = true;                              ///< Predict both ends of every range as well.
  /// When set, what happened when is appended (and the closed form, which has no events, is not chosen).
  std::vector<TraceEvent>* trace = nullptr;
};

/// Why there is no prediction: an unsupported point, or an unknown `native`.
struct Unpredicted {
  std::string reason;
};

/// Schedules of ours, which Gloo's own all_reduce and MPI's own collectives are made of, too. Ignores
/// `machine.known`. Throws as predict().
std::variant<Prediction, Unpredicted> simulate(const Machine& machine, const PointKey& key,
                                               const PredictOptions& options);

/// What the rules of an MPI library see of a point on this machine; none of a point that is no MPI library's
/// own. Throws as simulate().
std::optional<MpiCall> mpi_call_on(const Machine& machine, const PointKey& key, Backend backend);

/// How the ranks of this machine stand in what simulate() simulates. Throws as it does.
RankPlacement placement_on(const Machine& machine, int num_ranks);

}  // namespace ringside
