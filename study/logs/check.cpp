#include "study/logs/check.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/statistics.hpp"
#include "import/machine/topology_xml.hpp"
#include "results/codec/reader.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/gpu_models.hpp"
#include "sim/nccl/model.hpp"
#include "study/evaluate.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::study {
namespace {

/// As many nodes as the ranks need: files of machines for rent describe one.
void widen(Machine& machine, int ranks) {
  if (machine.gpus_per_node && *machine.gpus_per_node > 0) {
    machine.nodes = std::max(machine.nodes, (ranks + *machine.gpus_per_node - 1) / *machine.gpus_per_node);
  }
}

RecognisedMachine described_machine(const CheckRequest& request, const RunFacts& facts, int ranks,
                                    const std::string& name) {
  RecognisedMachine result;
  if (request.machine) {
    result.machine = read_machine(*request.machine);
  } else if (request.topology) {
    const std::string text = read_text(*request.topology);
    const std::string origin = request.topology->string();
    const auto gpu = request.gpu          ? request.gpu
                     : facts.gpus.empty() ? std::nullopt
                                          : std::optional(facts.gpus.front());
    TopologyMachine described = is_topology_xml(text) ? machine_of_topology_xml(text, origin, gpu)
                                                      : machine_of_topology(text, origin, gpu);
    result.machine = std::move(described.machine);
    result.assumptions = std::move(described.notes);
  } else {
    RunFacts stated = facts;
    if (request.gpu) {
      stated.gpus = {*request.gpu};
    }
    result = recognise_machine(stated, ranks, name);
  }
  widen(result.machine, ranks);
  if (!facts.gpus.empty() && result.machine.gpu) {
    const auto listed = find_gpu_sheet(facts.gpus.front());
    const auto described = find_gpu_sheet(result.machine.gpu->model);
    if (listed && described && listed->model != described->model) {
      result.assumptions.push_back(
          fmt::format("The log lists {}, the description has {}: is it the right one?", facts.gpus.front(),
                      result.machine.gpu->model));
    }
  }
  if (!result.machine.software.nccl && !result.machine.software.rccl && facts.nccl) {
    result.machine.software.nccl = facts.nccl;
  }
  return result;
}

/// The tables of an import by number of ranks and collective: several runs of one size each are one run.
std::map<std::pair<Collective, int>, std::vector<Point>> runs_of(const Import& import) {
  std::map<std::pair<Collective, int>, std::vector<Point>> runs;
  std::set<PointKey> seen;
  for (const Series& series : import.series) {
    for (const Point& point : series.points) {
      if (point.key.algorithm == kNative && nccl_models(point.key.collective) &&
          seen.insert(point.key).second) {
        runs[{point.key.collective, point.key.ranks}].push_back(point);
      }
    }
  }
  return runs;
}

/// The machine with the all_reduces of a baseline as known; of several runs of one size the median.
Machine with_baseline(const Machine& machine, const std::filesystem::path& baseline,
                      const ImportDefaults& defaults) {
  std::map<PointKey, std::vector<double>> times;
  for (const Series& series : import_measurements(baseline, defaults).series) {
    for (const Point& point : series.points) {
      if (point.key.algorithm == kNative && point.key.collective == Collective::all_reduce &&
          point.measured->outcome == Outcome::ok) {
        times[point.key].push_back(point.measured->seconds.value);
      }
    }
  }
  if (times.empty()) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{}: holds no all_reduce of NCCL's own, which is what a baseline is", baseline.string()));
  }
  Machine result = machine;
  for (auto& [key, of_key] : times) {
    result.known.push_back({.algorithm = std::string(kNative),
                            .ranks = key.ranks,
                            .bytes = key.bytes,
                            .seconds = Seconds{summarize(std::move(of_key)).median},
                            .bandwidth = {},
                            .latency = {}});
  }
  return result;
}

}  // namespace

std::vector<LogCheck> check_text(std::string_view text, const std::string& name,
                                 const CheckRequest& request) {
  const Import import = import_text(text, name, request.defaults);
  const RunFacts facts = read_run_facts(text);
  std::vector<LogCheck> checks;
  for (const auto& [kind, points] : runs_of(import)) {
    LogCheck check{.log = name, .line = import.series.front().line, .notes = import.notes};
    RecognisedMachine described = described_machine(request, facts, kind.second, name);
    check.recognised = !request.machine;
    check.machine = std::move(described.machine);
    check.assumptions = std::move(described.assumptions);
    check.wrong_results =
        static_cast<int>(std::count_if(points.begin(), points.end(), [](const Point& point) {
          return point.measured->outcome == Outcome::wrong_result;
        }));
    check.evidence = evidence_of(facts, check.machine);
    check.check = check_machine(check.machine, points, check.evidence, nccl_fit());
    if (request.baseline) {
      check.beside_baseline = check_machine(with_baseline(check.machine, *request.baseline, request.defaults),
                                            points, {}, nccl_fit());
    }
    if (check.check.points.empty() && check.wrong_results == 0) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: NCCL's times on {} are not modelled; `ringside predict` says why", name,
                              check.machine.name));
    }
    checks.push_back(std::move(check));
  }
  if (checks.empty()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: holds no time of NCCL's own collectives, which is what is checked", name));
  }
  return checks;
}

std::vector<LogCheck> check_log(const std::filesystem::path& log, const CheckRequest& request) {
  return check_text(read_text(log), log.string(), request);
}

FalseAlarms false_alarm_study(const std::filesystem::path& directory, const Observer& observer) {
  const std::vector<EvaluationSystem> systems = read_evaluation_systems(directory, observer);
  observer.stage("checking");
  FalseAlarms result = false_alarms(systems, nccl_fit(), nccl_held_out());
  observer.finished();
  return result;
}

}  // namespace ringside::study
