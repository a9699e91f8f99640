#include "study/compare.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/failures.hpp"
#include "import/import.hpp"
#include "real/launch/external/external_rank.hpp"
#include "real/measure/memory_check.hpp"
#include "real/measure/point_measurement.hpp"
#include "results/journal.hpp"
#include "study/calibrate.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::study {
namespace {

std::string describe_outcome(const Point& point) {
  return fmt::format("{} on {} ranks, {}: {}", point.key.algorithm, point.key.ranks, format(point.key.bytes),
                     point.measured->note);
}

const Point* find_point(const std::vector<Point>& points, const PointKey& key) {
  const auto found = std::ranges::find(points, key, &Point::key);
  return found == points.end() ? nullptr : &*found;
}

/// Measurements that somebody else made, for the points of this scenario.
std::vector<Point> points_measured_elsewhere(const Scenario& scenario, const Observer& observer) {
  const std::vector<Point> measured = read_measured(scenario, observer);
  std::vector<Point> points = open_points(points_of(scenario));
  std::size_t taken = 0;
  for (Point& point : points) {
    if (const Point* found = find_point(measured, point.key)) {
      point.measured = found->measured;
      ++taken;
    }
  }
  if (taken > 0 && taken < measured.size()) {
    observer.note(fmt::format("{}: {} of its {} points are none of this scenario and are not looked at.",
                              scenario.measured->string(), measured.size() - taken, measured.size()));
  }
  if (taken == 0) {
    throw bad_input("{}: holds no measurement of any point of this scenario, only of {}",
                    scenario.measured->string(), fmt::join(describe_kinds(measured), "; "));
  }
  return points;
}

/// Where ranks are started from outside, there is something to do for as many as were started.
void require_points_of(const Scenario& scenario, const ExternalRank& external) {
  if (std::ranges::find(scenario.ranks, external.num_ranks) == scenario.ranks.end()) {
    throw bad_input("{} started {} ranks, and this scenario is for {}; start as many, or change its `ranks`",
                    external.launcher, external.num_ranks, fmt::join(scenario.ranks, ", "));
  }
}

/// With several repetitions missing of a point, the last of them.
std::string stage_of(const std::vector<PointKey>& missing, const MeasureOptions& options) {
  const std::size_t points = std::set<PointKey>(missing.begin(), missing.end()).size();
  const std::string stage = fmt::format("measuring {} points", points);
  if (options.repetitions == 1) {
    return stage;
  }
  const int repetition = options.repetitions_now.value_or(options.repetitions);
  return missing.size() > points
             ? fmt::format("{}, up to {} repetitions", stage, repetition)
             : fmt::format("{}, repetition {} of {}", stage, repetition, options.repetitions);
}

/// The whole point if new or with all repetitions, else what the last one adds to earlier lines.
Record record_of(const Point& point, const Measurement& last, int repetitions) {
  const auto made = static_cast<int>(point.measured->repetitions.size());
  if (made == 0 || made >= repetitions) {
    return point;
  }
  return RepetitionRecord{.key = point.key, .measured = last};
}

/// Measures what is missing of the points, writing each to the journal as it is known.
void measure_points(std::vector<Point>& points, MeasureOptions options, Journal& journal,
                    const Observer& observer) {
  std::vector<PointKey> keys;
  for (const Point& point : points) {
    keys.push_back(point.key);
    if (point.measured) {
      options.earlier.emplace(point.key, *point.measured);
    }
  }
  const std::vector<PointKey> missing = missing_repetitions(keys, options);
  // Ranks that were started from outside learn only from this one that there is nothing to do.
  if (missing.empty() && !external_rank()) {
    return;
  }
  observer.stage(stage_of(missing, options));
  std::size_t done = 0;
  observer.progress(0, missing.empty() ? "" : description(missing.front()));
  Measurement last;
  const auto report = [&](const PointKey& key, const Measurement& measurement) {
    const auto point = std::ranges::find(points, key, &Point::key);
    RINGSIDE_CHECK(point != points.end(), "a point was measured that nobody asked for");
    point->measured = measurement;
    journal.append(record_of(*point, last, options.repetitions));
    ++done;
    observer.progress(static_cast<double>(done) / static_cast<double>(missing.size()),
                      done < missing.size() ? description(missing[done]) : "");
  };
  measure(keys, options, report, [&](const PointKey&, const Measurement& repetition) { last = repetition; });
  observer.finished();
}

/// The ranks of this machine that measure a scenario.
struct Ranks {
  Backend backend = Backend::automatic;
  LaunchOptions launch = {};
};

std::vector<Point> points_to_measure(const Scenario& scenario, const std::optional<ResumedJournal>& resumed) {
  std::vector<Point> points = open_points(points_of(scenario));
  if (resumed) {
    for (Point& point : points) {
      if (const Point* found = find_point(resumed->points, point.key)) {
        point = *found;
      }
    }
  }
  return points;
}

/// Probes and repetitions of the points alternate so many times: probes come before and between, not after.
constexpr int kMostTurns = 3;

/// Whether this machine is probed: a resumed run whose points are all predicted does not, unless ranks that
/// were started from outside are about to take part in that.
bool calibrates(const PointStudy& study, bool resumed) {
  const bool predicted =
      std::ranges::all_of(study.points, [](const Point& point) { return point.predicted.has_value(); });
  return !study.scenario.machine && !(predicted && resumed && !external_rank());
}

/// From probes that are newer; failures have been said, and measurements are in the journal.
void predict_again(PointStudy& study, Backend backend, Journal& journal) {
  for (Point& point : study.points) {
    point.predicted.reset();
  }
  predict_points(study.points, study.machine, {.backend = backend}, {});
  std::vector<Point> predicted = study.points;
  for (Point& point : predicted) {
    point.measured.reset();
  }
  journal.append(predicted);
}

Ranks ranks_of(const CompareRequest& request, const Observer& observer) {
  const Scenario& scenario = request.scenario;
  const int max_ranks = *std::ranges::max_element(scenario.ranks);
  const Backend backend =
      measuring_backend({.asked = scenario.backend, .max_ranks = max_ranks}, request.launch, observer);
  if (scenario.machine) {
    require_this_machine(*scenario.machine, backend, request.launch);
  }
  return {.backend = backend, .launch = launch_options(request.launch, backend, scenario.software)};
}

/// Whether this process is a rank above 0, started from outside: it does its part here.
bool takes_part(const CompareRequest& request, const Invocation& invocation,
                const std::vector<PointKey>& keys, const LaunchOptions& launch) {
  const auto external = external_rank();
  if (!external) {
    return false;
  }
  require_points_of(request.scenario, *external);
  if (external->rank == 0) {
    return false;
  }
  if (request.predicts && !request.scenario.machine) {
    take_part_in_calibration(request.scenario, request.launch, launch);
  }
  measure(keys, measure_options(request, invocation, launch), [](const PointKey&, const Measurement&) {});
  return true;
}

std::optional<ResumedJournal> resumed_journal(const std::filesystem::path& file,
                                              const CompareRequest& request,
                                              const std::vector<PointKey>& keys, Backend backend,
                                              const Invocation& invocation, const Observer& observer) {
  if (!request.resume) {
    return std::nullopt;
  }
  const Scenario& scenario = request.scenario;
  ResumedJournal resumed =
      resume_journal(file, {.header = run_header(invocation, scenario, scenario.machine),
                            .keys = keys,
                            .backend = request.measures() ? std::optional(backend) : std::nullopt});
  for (const std::string& note : resumed.notes) {
    observer.note(note);
  }
  return resumed;
}

/// A scenario's own machine, or what is known of this one without probing it.
Machine machine_before_probes(const Scenario& scenario) {
  Machine here;
  here.name = "this machine";
  here.cpu = cpu_here();
  return scenario.machine.value_or(here);
}

/// What stands in its place with measurements is kept beside it. `launch` is set when ranks are started here.
Journal begin_journal(const std::filesystem::path& file, const CompareRequest& request,
                      const PointStudy& study, const LaunchOptions* launch, const Invocation& invocation,
                      const Observer& observer) {
  if (const auto kept = keep_measurements(file, study.points)) {
    observer.note(fmt::format(
        "Earlier results are kept in {} (`resume` goes on with results that it can read).", kept->string()));
  }
  const bool known = request.predicts || study.scenario.machine;
  return Journal::create(file, run_header(invocation, study.scenario,
                                          known ? std::optional(study.machine) : std::nullopt, launch));
}

}  // namespace

MeasureOptions measure_options(const Scenario& scenario, const LaunchChoices& choices,
                               const Invocation& invocation, const LaunchOptions& launch) {
  MeasureOptions options;
  options.launch = launch;
  options.budget_per_point = choices.time_per_point;
  options.seed = invocation.seed;
  if (scenario.machine) {
    for (const int ranks : scenario.ranks) {
      options.placements[ranks] = placement_on(*scenario.machine, ranks);
    }
  }
  return options;
}

MeasureOptions measure_options(const CompareRequest& request, const Invocation& invocation,
                               const LaunchOptions& launch) {
  MeasureOptions options = measure_options(request.scenario, request.launch, invocation, launch);
  options.repetitions = request.repetitions;
  options.check_every_call = request.check_every_call;
  return options;
}

std::optional<PointStudy> compare(const CompareRequest& request, const Invocation& invocation,
                                  const Observer& observer) {
  const Scenario& scenario = request.scenario;
  const std::vector<PointKey> keys = points_of(scenario);
  const bool measures = request.measures();
  const Ranks ranks = measures ? ranks_of(request, observer) : Ranks{.backend = scenario.backend};
  if (measures && takes_part(request, invocation, keys, ranks.launch)) {
    return std::nullopt;
  }
  const std::filesystem::path directory = output_directory(invocation, scenario.name);
  const FolderLock lock(directory);  // Before machine.yaml, which belongs to what stands beside it.
  if (measures) {
    require_points(keys, ranks.launch);
  }

  // What is known already: from a killed run, or from somebody else's.
  const std::filesystem::path file = directory / "results.jsonl";
  std::optional<ResumedJournal> resumed =
      resumed_journal(file, request, keys, ranks.backend, invocation, observer);
  PointStudy study{.scenario = scenario, .machine = machine_before_probes(scenario)};
  study.points =
      measures ? points_to_measure(scenario, resumed) : points_measured_elsewhere(scenario, observer);

  std::optional<Calibrator> calibrator;
  const bool probes = request.predicts && calibrates(study, resumed.has_value());
  // Ranks that were started from outside go through a list that all of them know.
  const int turns = probes && measures && !external_rank() ? std::min(request.repetitions, kMostTurns) : 1;
  if (request.predicts) {
    bool described = true;
    if (probes) {
      // Who measures has said the backend.
      calibrator.emplace(scenario, request.launch, directory, measures ? Observer{} : observer);
      calibrator->probe(1.0 / turns, observer);
      described = calibrator->describe(study.machine, measures, observer);
    } else if (!scenario.machine) {
      study.machine = load_machine(directory / "machine.yaml");
    }
    if (described) {
      predict_points(study.points, study.machine, {.backend = ranks.backend}, observer);
      require_use_of_known(study.points, study.machine, {});
    }
  }
  Journal journal =
      resumed ? std::move(resumed->journal)
              : begin_journal(file, request, study, measures ? &ranks.launch : nullptr, invocation, observer);
  if (request.predicts) {
    journal.append(study.points);
  }
  observer.journal(journal.file());
  for (int turn = 0; measures && turn < turns; ++turn) {
    if (calibrator && turn > 0) {
      calibrator->probe(1.0 / turns, observer);
      if (calibrator->describe(study.machine, measures, observer)) {
        predict_again(study, ranks.backend, journal);
      }
    }
    MeasureOptions options = measure_options(request, invocation, ranks.launch);
    options.repetitions_now = request.repetitions * (turn + 1) / turns;
    measure_points(study.points, std::move(options), journal, observer);
  }
  draw_conclusions(study, request.fitted);
  for (const Record& record : study.conclusions.records) {
    journal.append(record);
  }
  study.file = journal.file();
  return study;
}

void throw_if_failed(const std::vector<Point>& points) {
  const auto of = [](Outcome outcome) {
    return [outcome](const Point& point) { return point.measured && point.measured->outcome == outcome; };
  };
  const auto wrong = std::ranges::find_if(points, of(Outcome::wrong_result));
  if (wrong != points.end()) {
    throw Error(ErrorKind::failed, fmt::format("wrong result: {}", describe_outcome(*wrong)));
  }
  const auto failed = std::ranges::find_if(points, of(Outcome::failed));
  if (failed != points.end()) {
    const auto count = std::ranges::count_if(points, of(Outcome::failed));
    throw Error(ErrorKind::failed,
                fmt::format("{} of {} points failed, first {}; `resume` measures them again", count,
                            points.size(), describe_outcome(*failed)));
  }
}

}  // namespace ringside::study
