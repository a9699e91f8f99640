#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/point.hpp"
#include "study/inputs/invocation.hpp"
#include "study/predict.hpp"
#include "study/ranks/observer.hpp"

/// A file of rules by which Open MPI chooses the algorithm of its all_reduce as predictions say.
namespace ringside::study {

/// One number of ranks and size.
struct TunedSize {
  PointKey key;     ///< The library's own choice: `native`.
  std::string own;  ///< What it is, by our names.
  Prediction own_time;
  std::string
      fastest;  ///< The fastest that the library can be told; `own` where nothing is predicted faster.
  Prediction fastest_time;
  int number = 0;  ///< It stands for `fastest` in the file; 0 = the library's own choice stays.

  /// Own time over that of `fastest`: 1 where the choice stays. The interval goes from the worst to the best
  /// case of both predictions.
  Interval<double> gain() const;
};

struct TuneStudy {
  std::string library;
  std::vector<TunedSize> sizes = {};               ///< By ranks, then size.
  std::optional<std::filesystem::path> file = {};  ///< None where the library's own choice stays everywhere.
};

/// Text of a `coll_tuned_dynamic_rules_filename` of Open MPI 4.1 and 5.0. Each size's choice holds up to the
/// next; below the least, above the largest, and on other numbers of ranks the library's own choice stays.
std::string dynamic_rules(std::span<const TunedSize> sizes);

/// Predicts what the library can be told for each point of the scenario, and keeps what is faster beyond both
/// predictions' intervals. Writes `allreduce.rules`, or removes an earlier one where nothing is. `library`:
/// where the machine does not say it. Throws Error{bad_input} for what is no all_reduce over Open MPI on a
/// described machine.
TuneStudy tune(const PredictRequest& request, const std::optional<std::string>& library,
               const Invocation& invocation, const Observer& observer);

}  // namespace ringside::study
