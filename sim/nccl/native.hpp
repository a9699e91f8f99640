#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>

#include "results/point.hpp"
#include "results/prediction.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/nccl/parameters.hpp"

/// `native` on backend nccl: from a machine's description, and from what somebody measured on it.
namespace ringside {

/// The prediction, or why none. Ours alone has an interval and `machine.known`. Throws as nccl_system().
std::variant<Prediction, std::string> predict_nccl_native(const Machine& machine, const PointKey& key,
                                                          NativeModel model, const NcclFit& fit = nccl_fit());

/// Whether `machine.known` holds this very point, so that predicting it proves nothing.
bool is_known(const Machine& machine, const PointKey& key);

/// The one number that, once measured, would narrow predictions most.
struct NcclAdvice {
  std::string what;         ///< `one all_reduce of 1 GiB on 8 ranks`
  std::string command;      ///< That measures it.
  std::string known;        ///< How to tell: the text of `--known`, with … for what was measured.
  double width_before = 1;  ///< Interval's high over low, geometric mean over the points.
  double width_after = 1;
  /// A question that settles the transport without measuring, and its key. Empty when none is open.
  std::string question = {};
  std::string answer = {};
};

/// Over the points of `native` in `keys`; none without any, or where nothing narrows them by a tenth.
std::optional<NcclAdvice> nccl_advice(const Machine& machine, std::span<const PointKey> keys);

}  // namespace ringside
