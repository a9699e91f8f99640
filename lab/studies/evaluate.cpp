#include "lab/studies/evaluate.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "lab/evaluation/impossible_times.hpp"
#include "lab/nccl/nccl_fit.hpp"
#include "lab/studies/evaluation_lines.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::lab {

using study::configs_directory;
using study::Invocation;
using study::Observer;
using study::output_directory;
using study::read_measured;
using study::read_scenario;
using study::run_header;

namespace {

struct Systems {
  std::vector<EvaluationSystem> systems = {};
  std::vector<std::string> problems = {};  ///< As their error says, of files that cannot be read.
};

/// Nothing for a scenario without `measured:`: it is no business of ours. Throws Error{bad_input}.
std::optional<EvaluationSystem> system_of(const Scenario& scenario, const Observer& observer) {
  if (!scenario.measured || !scenario.machine) {
    return std::nullopt;
  }
  const Evaluation about = scenario.evaluation.value_or(Evaluation{});
  std::vector<Point> points = read_measured(scenario, observer);
  for (Point& point : points) {
    point.key.collective = scenario.collective;  // Tables do not say it.
  }
  EvaluationSystem system = {.name = scenario.name,
                             .source = about.source,
                             .group = about.group.empty() ? scenario.name : about.group,
                             .excluded = about.excluded,
                             .uncertain = about.uncertain,
                             .machine = *scenario.machine,
                             .points = std::move(points)};
  const std::vector<std::string> impossible = impossible_times(system);
  if (!impossible.empty()) {
    const std::string prefix = scenario.measured->string() + ": ";
    throw Error(ErrorKind::bad_input,
                fmt::format("{}{}", prefix, fmt::join(impossible, fmt::format("\n{}", prefix))));
  }
  return system;
}

/// One bad file or table does not stop the others. Throws where there is nothing to evaluate.
Systems read_systems(const std::filesystem::path& directory, const Observer& observer) {
  observer.stage("reading scenarios");
  Systems read;
  const auto keeping_problems = [&](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      read.problems.emplace_back(error.what());
    }
  };
  std::vector<Scenario> scenarios;
  for (const std::filesystem::path& file : scenario_files_below(directory)) {
    keeping_problems([&] {
      for (Scenario& scenario : load_scenarios(file, study::known_names())) {
        scenarios.push_back(std::move(scenario));
      }
    });
  }
  // As files of their own would stand: `x-broadcast.yaml` before `x.yaml`.
  std::stable_sort(scenarios.begin(), scenarios.end(),
                   [](const Scenario& a, const Scenario& b) { return a.name + ".yaml" < b.name + ".yaml"; });
  for (const Scenario& scenario : scenarios) {
    keeping_problems([&] {
      if (auto system = system_of(scenario, observer)) {
        read.systems.push_back(std::move(*system));
      }
    });
  }
  observer.finished();
  if (read.systems.empty() && read.problems.empty()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: no scenario below it has `measured:`", directory.string()));
  }
  return read;
}

[[noreturn]] void throw_problems(const std::vector<std::string>& problems, std::size_t scenarios) {
  throw Error(ErrorKind::bad_input, fmt::format("{} of {} scenarios cannot be read:\n{}", problems.size(),
                                                scenarios, fmt::join(problems, "\n")));
}

/// Why tables beside the scenarios are not evaluated.
std::vector<std::string> read_not_evaluated(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "not_evaluated.csv";
  return std::filesystem::exists(file) ? parse_not_evaluated(read_text(file), file.string())
                                       : std::vector<std::string>{};
}

}  // namespace

std::vector<std::filesystem::path> scenario_files_below(const std::filesystem::path& directory) {
  if (!std::filesystem::is_directory(directory)) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: no such directory", directory.string()));
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void throw_problems(const EvaluateStudy& study) {
  if (!study.problems.empty()) {
    throw_problems(study.problems, study.scenarios);
  }
}

EvaluateStudy evaluate(const EvaluateRequest& request, const Invocation& invocation,
                       const Observer& observer) {
  const Systems read = read_systems(request.directory, observer);
  EvaluateStudy study{.report = {},
                      .directory = {},
                      .file = {},
                      .about = {},
                      .problems = read.problems,
                      .scenarios = read.problems.size() + read.systems.size()};
  if (read.systems.empty()) {
    throw_problems(study);
  }
  study.report = ringside::evaluate(read.systems, nccl_fit(), nccl_held_out());
  for (std::string& sentence : read_not_evaluated(request.directory)) {
    study.report.skipped.push_back(std::move(sentence));
  }

  const std::string title = request.directory.lexically_normal().filename().string();
  study.directory = output_directory(invocation, title.empty() ? "evaluation" : title);
  Scenario asked;
  asked.name = request.directory.string();
  Journal journal =
      Journal::create(study.directory / "accuracy.jsonl", run_header(invocation, asked, std::nullopt));
  for (const EvaluatedSystem& system : study.report.systems) {
    for (const Accuracy& record : system.records) {
      journal.append(record);
    }
  }
  for (const Accuracy& record : study.report.summaries) {
    journal.append(record);
  }
  study.file = journal.file();
  study.about = study.directory / "evaluation.jsonl";
  write_file(study.about, evaluation_lines(study.report, nccl_fit(), request.points));
  return study;
}

FalseAlarms false_alarms(const std::filesystem::path& directory, const Observer& observer) {
  const Systems read = read_systems(directory, observer);
  observer.stage("checking");
  FalseAlarms result = ringside::false_alarms(read.systems, nccl_fit(), nccl_held_out());
  observer.finished();
  return result;
}

FitStudy fit_evaluated(const std::filesystem::path& directory, const Invocation& invocation,
                       const Observer& observer) {
  const Systems read = read_systems(directory, observer);
  if (!read.problems.empty()) {
    throw_problems(read.problems, read.problems.size() + read.systems.size());
  }
  observer.stage("fitting");
  FitStudy fit{.study = study_nccl(fit_tables(read.systems), {.seed = invocation.seed},
                                   [&](const std::string& what) { observer.progress(0, what); }),
               .directory = invocation.output.value_or(configs_directory().value_or("configs") / "nccl")};
  observer.finished();
  write_file(fit.directory / "parameters.yaml", parameters_file(fit.study));
  write_file(fit.directory / "held_out.yaml", held_out_file(fit.study));
  return fit;
}

}  // namespace ringside::lab
