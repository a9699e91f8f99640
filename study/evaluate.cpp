#include "study/evaluate.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/evaluation/accuracy_tables.hpp"
#include "analysis/evaluation/impossible_times.hpp"
#include "analysis/evaluation/nccl_fit.hpp"
#include "common/error.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::study {
namespace {

struct Systems {
  std::vector<EvaluationSystem> systems = {};
  std::vector<std::string> problems = {};  ///< As their error says, of files that cannot be read.
};

/// Nothing for a scenario without `measured:`: it is no business of ours. Throws Error{bad_input}.
std::optional<EvaluationSystem> read_system(const std::filesystem::path& file, const Observer& observer) {
  const Scenario scenario = read_scenario(file);
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

/// One bad file among many does not keep the others from being evaluated. Throws where there is nothing to evaluate.
Systems read_systems(const std::filesystem::path& directory, const Observer& observer) {
  observer.stage("reading scenarios");
  Systems read;
  for (const std::filesystem::path& file : scenario_files_below(directory)) {
    try {
      if (auto system = read_system(file, observer)) {
        read.systems.push_back(std::move(*system));
      }
    } catch (const Error& error) {
      read.problems.emplace_back(error.what());
    }
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

std::vector<EvaluationSystem> read_evaluation_systems(const std::filesystem::path& directory,
                                                      const Observer& observer) {
  return read_systems(directory, observer).systems;
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
                      .problems = read.problems,
                      .scenarios = read.problems.size() + read.systems.size()};
  // A page is of all systems or of none.
  if (read.systems.empty() || request.page) {
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
  if (request.page) {
    write_file(*request.page,
               with_sections(read_text(*request.page), accuracy_tables(study.report, nccl_fit()),
                             request.page->string()));
  }
  return study;
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

}  // namespace ringside::study
