#include "study/tune.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <variant>

#include <fmt/format.h>

#include "analysis/comparison/point_sentences.hpp"
#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "results/journal.hpp"
#include "schedule/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/mpi/rules.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::study {
namespace {

/// Predictions without an interval differ by more than this where the difference is worth a file.
constexpr double kWorthTelling = 1.05;

bool surely_faster(const Prediction& one, const Prediction& other) {
  return one.interval().high < other.interval().low &&
         kWorthTelling * one.seconds.value < other.seconds.value;
}

void require_tunable(const Scenario& scenario) {
  if (registered(scenario.backend).software != &Software::mpi) {
    throw bad_input("{}: backend: mpi alone reads a file of rules, not {}", scenario.file.string(),
                    name(scenario.backend));
  }
  if (scenario.collective != Collective::all_reduce) {
    throw bad_input("{}: collective: rules can be written for all_reduce, not for {}", scenario.file.string(),
                    name(scenario.collective));
  }
  if (!scenario.machine) {
    throw bad_key(
        "machine: rules follow from a machine file; name the machine.yaml that `mpirun -n {} "
        "ringside compare {}` writes while it probes this machine",
        std::ranges::max(scenario.ranks), scenario.file.string());
  }
}

/// None where it cannot be predicted.
std::optional<Prediction> time_of(const Machine& machine, PointKey key, const std::string& algorithm,
                                  const PredictOptions& options) {
  key.algorithm = algorithm;
  const auto outcome = ringside::predict(machine, key, options);
  const auto* prediction = std::get_if<Prediction>(&outcome);
  return prediction == nullptr ? std::nullopt : std::optional(*prediction);
}

TunedSize tuned(const PreparedPrediction& prepared, const PointKey& key,
                const std::map<std::string, int>& numbers) {
  const Machine& machine = prepared.machine;
  const std::string own =
      mpi_choice(*machine.software.mpi, mpi_call_on(machine, key, prepared.options.backend).value());
  const std::optional<Prediction> own_time = time_of(machine, key, std::string(kNative), prepared.options);
  if (!own_time) {
    throw bad_input("{} of {} ranks cannot be predicted", own, key.ranks);
  }
  TunedSize best{.key = key, .own = own, .own_time = *own_time, .fastest = own, .fastest_time = *own_time};
  const std::int64_t elements = key.bytes.value / static_cast<std::int64_t>(size_of(key.dtype));
  for (const auto& [algorithm, number] : numbers) {
    const std::optional<Prediction> time = time_of(machine, key, algorithm, prepared.options);
    // With fewer elements than ranks the library takes another algorithm than it was told.
    if (algorithm != own && elements >= key.ranks && time &&
        time->seconds.value < best.fastest_time.seconds.value) {
      best.fastest = algorithm;
      best.fastest_time = *time;
      best.number = surely_faster(*time, *own_time) ? number : 0;
    }
  }
  return best;
}

}  // namespace

Interval<double> TunedSize::gain() const {
  if (number == 0) {
    return Interval<double>::exactly(1);
  }
  const Interval<double> ours = values_of(own_time.interval());
  const Interval<double> least = values_of(fastest_time.interval());
  return {
      .low = ours.low / least.high, .typical = ours.typical / least.typical, .high = ours.high / least.low};
}

std::string dynamic_rules(std::span<const TunedSize> sizes) {
  // Rules of a number of ranks hold up to the next that has some: 0 gives the choice back to the library.
  std::map<int, std::map<std::int64_t, int>> numbers;
  for (const TunedSize& size : sizes) {
    std::map<std::int64_t, int>& of_ranks = numbers[size.key.ranks];
    of_ranks[0] = 0;
    of_ranks[size.key.bytes.value] = size.number;
    numbers[size.key.ranks + 1];
  }
  for (auto& [ranks, of_ranks] : numbers) {
    if (of_ranks.empty()) {
      of_ranks[0] = 0;
    } else if (of_ranks.rbegin()->first > 0) {
      of_ranks[of_ranks.rbegin()->first + 1] = 0;
    }
  }
  std::string text = fmt::format("1 # collectives\n2 # all_reduce\n{} # numbers of ranks\n", numbers.size());
  for (const auto& [ranks, of_ranks] : numbers) {
    std::vector<std::pair<std::int64_t, int>> switches;
    for (const auto& [bytes, number] : of_ranks) {
      if (switches.empty() || switches.back().second != number) {
        switches.emplace_back(bytes, number);
      }
    }
    text += fmt::format("{} # ranks\n{} # sizes: from so many bytes, algorithm, fan-out, segment\n", ranks,
                        switches.size());
    for (const auto& [bytes, number] : switches) {
      text += fmt::format("{} {} 0 0\n", bytes, number);
    }
  }
  return text;
}

TuneStudy tune(const PredictRequest& request, const std::optional<std::string>& library,
               const Invocation& invocation, const Observer& observer) {
  require_tunable(request.scenario);
  PreparedPrediction prepared = prepare(request, invocation, observer);
  std::optional<std::string>& known = prepared.machine.software.mpi;
  known = known ? known : library;
  if (!known) {
    throw bad_key("library: say whose rules, such as 'Open MPI 4.1.4'");
  }
  const std::map<std::string, int> numbers = mpi_numbers(*known, request.scenario.collective);
  if (const std::optional<std::string> disturbed = disturbance_sentence(prepared.machine)) {
    observer.note(*disturbed + '.');
  }
  TuneStudy study{.library = *known};
  Scenario scenario = request.scenario;
  scenario.algorithms = {std::string(kNative)};
  for (const PointKey& key : points_of(scenario)) {
    if (key.ranks > 1) {
      study.sizes.push_back(tuned(prepared, key, numbers));
    }
  }
  const std::filesystem::path file = std::filesystem::absolute(prepared.directory / "allreduce.rules");
  if (std::ranges::any_of(study.sizes, [](const TunedSize& size) { return size.number > 0; })) {
    if (prepared.unwritable) {
      throw *prepared.unwritable;
    }
    write_file(file, dynamic_rules(study.sizes));
    study.file = file;
  } else if (!prepared.unwritable) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);  // That of an earlier run says what no longer holds.
  }
  return study;
}

}  // namespace ringside::study
