#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.hpp"
#include "real/measure/recording.hpp"
#include "results/point.hpp"
#include "results/prediction.hpp"
#include "results/trace_event.hpp"
#include "scenario/scenario.hpp"
#include "study/inputs/invocation.hpp"
#include "study/ranks/launch.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

/// A ring of so many ranks has 130,560 transfers; files and pictures of more help nobody.
inline constexpr int kMostTracedRanks = 256;

struct TraceRequest {
  Scenario scenario;
  std::vector<std::string> algorithms = {};  ///< Empty = all of the scenario's that have a schedule.
  std::optional<int> ranks = {};             ///< None = the scenario's last.
  std::optional<Bytes> bytes = {};           ///< Likewise.
  bool measures = false;                     ///< Also run it on real ranks.
  LaunchChoices launch = {};
};

/// A simulated run.
struct Simulation {
  Prediction prediction;
  std::vector<TraceEvent> events;
};

/// What is known of one algorithm.
struct Timeline {
  PointKey key;
  std::optional<Simulation> simulated = {};
  std::optional<Recording> recorded = {};
  std::filesystem::path file = {};  ///< In the Trace Event Format; empty where nothing is known.
};

struct TraceStudy {
  Machine machine;
  std::filesystem::path directory;
  std::vector<Timeline> timelines = {};
};

/// Simulates (and runs) one point per algorithm and writes its timeline. None where this process is another
/// rank than 0 of mpirun, srun or torchrun. Throws Error{failed} for a wrong result.
std::optional<TraceStudy> trace(const TraceRequest& request, const Invocation& invocation,
                                const Observer& observer);

/// `ring all_reduce of 1 MiB on 4 ranks`
std::string title_of(const PointKey& key);

/// `transfer`, `reduce`, `local`: as timelines call it.
std::string_view timeline_name(TraceKind kind);

}  // namespace ringside::study
