#include "study/logs/check.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/model.hpp"
#include "sim/topology/gpu_models.hpp"
#include "study/inputs/known.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::study {
namespace {

/// Whether a log of so many ranks may be of such machines: all GPUs of each host, and no others than it has.
bool may_be(const Machine& machine, const RunFacts& facts, int ranks) {
  const auto listed = facts.gpus.empty() ? std::nullopt : find_gpu_sheet(facts.gpus.front());
  const auto described = find_gpu_sheet(machine);
  const int hosts = facts.nodes.value_or(static_cast<int>(std::max<std::size_t>(facts.hosts.size(), 1)));
  return (!listed || (described && listed->model == described->model)) &&
         machine.gpus_per_node.value_or(ranks) * hosts == ranks;
}

/// The tables of a log by number of ranks and collective: several runs of one size each are one run.
std::map<std::pair<Collective, int>, std::vector<Point>> runs_of(const std::vector<Series>& all) {
  std::map<std::pair<Collective, int>, std::vector<Point>> runs;
  std::set<PointKey> seen;
  for (const Series& series : all) {
    for (const Point& point : series.points) {
      if (point.key.algorithm == kNative && seen.insert(point.key).second) {
        runs[{point.key.collective, point.key.ranks}].push_back(point);
      }
    }
  }
  return runs;
}

/// The all_reduces of a baseline as known; of several runs of one size the median.
std::vector<Known> known_of_baseline(const std::filesystem::path& baseline, const ImportDefaults& defaults) {
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
    throw bad_input("{}: holds no all_reduce of NCCL's own, which is what a baseline is", baseline.string());
  }
  std::vector<Known> known;
  for (const auto& [key, of_key] : times) {
    known.push_back(known_time(key, Seconds{summarize(of_key).median}));
  }
  return known;
}

/// A run that failed before its first row holds nothing to read; that it failed is the answer.
Import imported(std::string_view text, const std::string& name, const ImportDefaults& defaults,
                const RunFacts& facts) {
  try {
    return import_text(text, name, defaults);
  } catch (const Error&) {
    if (facts.failures.empty()) {
      throw;
    }
    throw Error(ErrorKind::failed,
                fmt::format("{}: the run failed: {}", name, facts.failures.begin()->second));
  }
}

/// Whether one run was on a node of the other: by the names of hosts; where a log names none, of two logs.
bool is_node_of(const LogCheck& alone, const LogCheck& several, std::size_t logs) {
  if (alone.machine.gpu != several.machine.gpu || alone.log == several.log || alone.check.points.empty() ||
      several.check.points.empty() || alone.check.nics || !several.check.nics) {
    return false;
  }
  return alone.hosts.empty() || several.hosts.empty()
             ? logs == 2
             : std::includes(several.hosts.begin(), several.hosts.end(), alone.hosts.begin(),
                             alone.hosts.end());
}

}  // namespace

std::string LogCheck::failure() const {
  return !failures.empty()   ? failures.front()
         : wrong_results > 0 ? fmt::format("{} had wrong results", count_of(wrong_results, "row"))
                             : std::string();
}

LogChecker::LogChecker(CheckRequest request) : request_(std::move(request)) {
  if (request_.machine) {
    machine_ = value_of_key([&] { return read_machine(*request_.machine, "machine"); });
  }
  if (request_.instance) {
    instance_ = read_machine(request_.instance->machine, "the instance type");
  }
  if (request_.gpu) {
    gpu_ = counted(*request_.gpu);
    require_gpu_sheet(gpu_->what);
  }
  if (request_.network) {
    network_ = parse_network(*request_.network);
    if (machine_ && machine_->inter) {
      throw bad_key("network: {} says already what joins its nodes", machine_->name);
    }
  }
  if (request_.topology) {
    topology_ = valid_utf8(read_text(*request_.topology));
  }
  if (request_.baseline) {
    baseline_ = known_of_baseline(*request_.baseline, request_.defaults);
  }
}

ExpectedTimes& LogChecker::expected(const Machine& described) {
  const auto found =
      std::ranges::find_if(expected_, [&](const auto& one) { return one->machine() == described; });
  return found != expected_.end()
             ? **found
             : *expected_.emplace_back(std::make_unique<ExpectedTimes>(described, nccl_fit()));
}

RecognisedMachine LogChecker::described_machine(const RunFacts& facts, int ranks, const std::string& name) {
  RecognisedMachine result;
  if (machine_) {
    result.machine = *machine_;
  } else if (request_.topology) {
    const auto gpu = gpu_                 ? std::optional(gpu_->what)
                     : facts.gpus.empty() ? std::nullopt
                                          : std::optional(facts.gpus.front());
    TopologyMachine described = machine_of_text(topology_, request_.topology->string(), gpu);
    result.machine = std::move(described.machine);
    result.assumptions = std::move(described.notes);
  } else if (instance_ && may_be(*instance_, facts, ranks)) {
    result.machine = *instance_;
    result.assumptions.push_back(fmt::format("This machine is a {}, as {} says.", request_.instance->machine,
                                             request_.instance->source));
  } else {
    RunFacts stated = facts;
    SaidOfMachine said{.network = network_};
    if (gpu_) {
      stated.gpus = {gpu_->what};
      said.gpus_per_node = gpu_->count > 1 ? std::optional(gpu_->count) : std::nullopt;
    }
    result = recognise_machine(stated, ranks, name, said);
  }
  place_ranks(facts, ranks, name, result);
  if (ranks > result.machine.ranks_per_node.value_or(result.machine.gpus_per_node.value_or(ranks))) {
    result.machine.inter = network_ ? network_ : result.machine.inter;
    network_used_ = true;
    if (!result.machine.inter) {
      throw bad_key(
          "network: {}: its {} ranks need {} nodes of {}, and nothing says what joins them; give NICs of "
          "a node, rate and kind, such as '4 x 200 Gb/s infiniband'",
          name, ranks, result.machine.nodes, result.machine.name);
    }
  }
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

std::vector<LogCheck> LogChecker::check_text(std::string_view text, const std::string& name) {
  const RunFacts facts = read_run_facts(text);
  const Import import = imported(text, name, request_.defaults, facts);
  std::vector<LogCheck> checks = check_series(import.series, facts, name);
  for (LogCheck& check : checks) {
    // A line that says why the run failed is said as that.
    std::ranges::copy_if(import.notes, std::back_inserter(check.notes), [&](const std::string& note) {
      return std::ranges::none_of(facts.failures, [&](const auto& failure) {
        return note.starts_with(fmt::format("line {}:", failure.first));
      });
    });
    check.incomplete = import.format == "nccl-tests" && facts.incomplete();
    if (!check.failure().empty()) {
      check.check.withdraw(Standing::failed);
    } else if (check.incomplete) {
      check.check.withdraw(Standing::incomplete);
    }
  }
  return checks;
}

std::vector<LogCheck> LogChecker::check_series(const std::vector<Series>& series, const RunFacts& facts,
                                               const std::string& name) {
  std::vector<LogCheck> checks;
  for (const auto& [kind, points] : runs_of(series)) {
    LogCheck check{.log = name, .hosts = facts.hosts, .line = series.front().line};
    for (const auto& [line, failure] : facts.failures) {
      check.failures.push_back(failure);
    }
    RecognisedMachine described = described_machine(facts, kind.second, name);
    check.recognised = !request_.machine && !(instance_ && described.machine.name == instance_->name);
    check.machine = std::move(described.machine);
    check.assumptions = std::move(described.assumptions);
    check.wrong_results = static_cast<int>(std::ranges::count_if(
        points, [](const Point& point) { return point.measured->outcome == Outcome::wrong_result; }));
    check.evidence = evidence_of(facts, check.machine);
    check.check = check_machine(expected(check.machine), points, check.evidence);
    if (request_.baseline) {
      Machine with_known = check.machine;
      with_known.known.insert(with_known.known.end(), baseline_.begin(), baseline_.end());
      check.beside_baseline = check_machine(expected(with_known), points, {});
    }
    if (check.check.points.empty() && check.wrong_results == 0) {
      throw bad_input("{}: NCCL's times on {} are not modelled; `ringside predict` says why", name,
                      check.machine.name);
    }
    checks.push_back(std::move(check));
  }
  if (checks.empty()) {
    throw bad_input("{}: holds no time of NCCL's own collectives, which is what is checked", name);
  }
  return checks;
}

std::vector<LogCheck> LogChecker::check_log(const std::filesystem::path& log) {
  return check_text(valid_utf8(read_text(log, request_.defaults.most_bytes)), log.string());
}

void LogChecker::judge_together(std::vector<LogCheck>& checks) {
  for (LogCheck& several : checks) {
    for (const LogCheck& alone : checks) {
      if (several.check.alarmed() && is_node_of(alone, several, checks.size()) && alone.failure().empty()) {
        const BandVerdict& most = alone.check.bands.back();
        const std::string reaches =
            fmt::format("{}: one of these nodes alone reaches {} GB/s at {}, of {} predicted", alone.log,
                        rate_text(most.measured), format(most.bytes), rate_text(most.expected.typical));
        const auto against = ruled_out_by(expected(alone.machine), alone.check.points, reaches);
        if (!against.empty()) {
          several.assumptions.push_back(reaches + ", so that causes inside a node are unlikely.");
        }
        several.evidence.insert(several.evidence.end(), against.begin(), against.end());
        several.check.causes =
            suspected_causes(expected(several.machine), several.check.points, several.evidence);
      }
    }
  }
}

void LogChecker::refuse_idle_network() const {
  if (network_ && !network_used_) {
    throw bad_key("network: has no effect here: no log is of several nodes");
  }
}

std::vector<PairRun> pair_runs(std::span<const LogCheck> checks) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  for (const LogCheck& check : checks) {
    if (check.hosts.size() == 2 && !check.check.bands.empty()) {
      ratios[{*check.hosts.begin(), *check.hosts.rbegin()}].push_back(1 / check.check.bands.back().ratio);
    }
  }
  std::vector<PairRun> runs;
  for (const auto& [pair, of_pair] : ratios) {
    runs.push_back({.first = pair.first, .second = pair.second, .ratio = summarize(of_pair).median});
  }
  return runs;
}

}  // namespace ringside::study
