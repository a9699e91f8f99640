#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/interval.hpp"
#include "common/units.hpp"
#include "results/codec/fields.hpp"
#include "results/point.hpp"

/// The lines of results.jsonl as values: one record per line (docs/results.md lists every field).
namespace ringside {

inline constexpr std::string_view kSchema = "ringside/1";

struct ScenarioRecord {
  std::string name = {};
  std::string file = {};  ///< As the user wrote it; empty when there was none.
  std::string text = {};  ///< The YAML that was read.
};

struct MachineRecord {
  std::string name = {};
  std::string yaml = {};      ///< What load_machine() accepts; enough to predict again.
  bool this_machine = false;  ///< The scenario said `machine: this`: calibrated anew by every run.
};

/// The first line: what was asked, where and when.
struct RunHeader {
  std::string schema = std::string(kSchema);
  std::string version = {};
  std::string command = {};
  ScenarioRecord scenario;
  std::optional<MachineRecord> machine = {};
  std::map<std::string, std::string> host = {};  ///< Facts about where it ran, such as `cpu`.
  std::string started = {};                      ///< As timestamp() writes it.
  std::uint64_t seed = 1;
};

/// Two algorithms at one number of ranks and size. A speedup is the baseline's time over the candidate's.
/// Winners are among all algorithms but `native`.
struct Verdict {
  int ranks = 1;
  Bytes bytes = {};
  std::string baseline = {};
  std::string candidate = {};
  std::optional<double> predicted_speedup = {};
  std::optional<double> measured_speedup = {};
  std::optional<std::string> predicted_winner = {};
  std::optional<std::string> measured_winner = {};
};

/// Where the curves of two algorithms cross.
struct Crossover {
  int ranks = 1;
  std::string baseline = {};
  std::string candidate = {};
  /// The largest size at which they cross; none = they do not.
  std::optional<Bytes> predicted_bytes = {};
  std::optional<Bytes> measured_bytes = {};
  /// How often they cross; none = there are not two sizes to look between.
  std::optional<int> predicted_crossings = {};
  std::optional<int> measured_crossings = {};
  /// The faster one above the crossover, or at every size when they do not cross.
  std::optional<std::string> predicted_winner = {};
  std::optional<std::string> measured_winner = {};
};

/// Accuracy of the predictions (definitions: analysis/comparison/accuracy.hpp).
struct Accuracy {
  std::optional<std::string> algorithm = {};  ///< None: over all algorithms.
  // Fields for `ringside-lab evaluate` (lab/evaluation/evaluation.hpp).
  std::optional<std::string> system = {};         ///< None: over the systems of a class.
  std::optional<std::string> statistic = {};      ///< Over systems: `median` or `mean`.
  std::optional<int> systems = {};                ///< How many.
  std::optional<std::string> machine_class = {};  ///< Spelt `class`.
  std::optional<std::string> band = {};           ///< Range of message sizes.
  std::optional<std::string> model = {};
  std::optional<std::string> fold = {};
  int points = 0;
  double mape = 0;
  std::optional<double> factor = {};
  double median_abs_error = 0;
  double bias = 0;
  std::optional<double> coverage = {};
  std::optional<double> width = {};
  std::optional<double> winner_agreement = {};
};

/// One offer of a plan (numbers: analysis/plan/planner.hpp). Times in seconds, 90 % intervals.
struct OfferRecord {
  std::string name = {};
  std::string source = {};
  int gpus = 0;
  std::optional<double> per_hour = {};
  std::optional<std::string> currency = {};  ///< Currency of the price per hour and the cost.
  std::optional<std::string> problem = {};   ///< Why the rest is omitted.
  std::optional<std::string> algorithm = {};
  std::optional<NicUse> nics = {};  ///< As in Prediction, of the largest all_reduce of a step.
  std::optional<double> batch = {};
  std::optional<Interval<double>> step = {};
  std::optional<Interval<double>> compute = {};
  std::optional<Interval<double>> communication = {};
  std::optional<Seconds> ring = {};
  std::optional<Seconds> naive = {};
  std::optional<Interval<double>> exposed = {};
  std::optional<Interval<double>> waiting = {};
  std::optional<Interval<double>> efficiency = {};
  std::optional<Interval<double>> samples_per_second = {};
  std::optional<Interval<double>> run = {};
  std::optional<Interval<double>> cost =
      {};  ///< Cost of the run, or of a million samples where there is no run.
  std::optional<Bytes> memory = {};
  std::optional<Bytes> gpu_memory = {};
  std::optional<std::string> sharding = {};
  std::optional<int> micro_batch = {};
  std::optional<int> largest_batch = {};
  std::optional<Interval<double>> tokens_per_second = {};
  bool pareto = false;
  bool recommended = false;
  std::optional<double> bandwidth_factor_for_5_percent = {};
  std::optional<double> bandwidth_factor_for_10_percent = {};
  std::optional<int> gpus_stop_paying = {};
  std::optional<Bytes> ring_from_bytes = {};
  std::optional<int> ring_from_gpus = {};
  std::optional<std::string> best_way = {};
  std::vector<std::string> assumptions = {};
  std::vector<std::string> warnings = {};
};

FieldTable<ScenarioRecord> table_of(const ScenarioRecord* any);
FieldTable<MachineRecord> table_of(const MachineRecord* any);
FieldTable<RunHeader> table_of(const RunHeader* any);
FieldTable<Verdict> table_of(const Verdict* any);
FieldTable<Crossover> table_of(const Crossover* any);
FieldTable<Accuracy> table_of(const Accuracy* any);
FieldTable<Interval<double>> table_of(const Interval<double>* any);
FieldTable<OfferRecord> table_of(const OfferRecord* any);

/// One more repetition of a point that an earlier line has measured: it alone, so that a journal of many
/// repetitions grows with what was measured and not with its square.
struct RepetitionRecord {
  PointKey key;
  Measurement measured;
};

FieldTable<RepetitionRecord> table_of(const RepetitionRecord* any);

using Record = std::variant<RunHeader, Point, RepetitionRecord, Verdict, Crossover, Accuracy, OfferRecord>;

/// One line of JSON without the line break. Seconds and bytes, never other units; doubles in digits that read
/// back as the same number; what is absent is omitted. A number that is not finite is a bug of the caller.
std::string to_line(const Record& record);
std::string to_line(const Point& point);

/// A line of each, with its line break.
std::string to_lines(const auto& records) {
  std::string lines;
  for (const auto& record : records) {
    lines += to_line(record) + '\n';
  }
  return lines;
}

/// The record that a line holds; none for a kind that this version does not know. Unknown fields are skipped
/// and null is absent. Throws Error{bad_input} that names the field and what it should hold, not the file.
std::optional<Record> parse_record(std::string_view line);

/// Whether `line` is JSON at all. No record stays JSON when its end is cut off.
bool is_json(std::string_view line);

/// ISO 8601 in UTC to the second: `2026-03-01T12:34:56Z`.
std::string timestamp(std::chrono::system_clock::time_point time);

}  // namespace ringside
