#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/evaluation/evaluation.hpp"
#include "study/inputs/invocation.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

/// The scenarios with `measured:` below a folder, without those that cannot be read. Throws Error{bad_input} where there is none.
std::vector<EvaluationSystem> read_evaluation_systems(const std::filesystem::path& directory,
                                                      const Observer& observer);

struct EvaluateRequest {
  std::filesystem::path directory;                 ///< Directory of scenarios; those with `measured:` count.
  std::optional<std::filesystem::path> page = {};  ///< Markdown whose marked sections get the tables.
};

struct EvaluateStudy {
  AccuracyReport report;
  std::filesystem::path directory;         ///< That takes charts.
  std::filesystem::path file;              ///< `accuracy.jsonl`, complete.
  std::vector<std::string> problems = {};  ///< As their error says, of scenarios that cannot be read.
  std::size_t scenarios = 0;               ///< All, read or not.
};

/// How well NCCL's own all_reduce is predicted over the scenarios below a folder. A scenario that cannot be read does not
/// keep the others from being evaluated unless a page is written. Throws Error{bad_input} where nothing can be evaluated.
EvaluateStudy evaluate(const EvaluateRequest& request, const Invocation& invocation,
                       const Observer& observer);

/// Throws Error{bad_input} that names every scenario that could not be read; nothing where there is none.
void throw_problems(const EvaluateStudy& study);

struct FitStudy {
  NcclStudy study;
  std::filesystem::path directory;  ///< That took the two files.
};

/// Fits the parameters to the systems below `directory` and writes configs/nccl/ (or the invocation's output), which the
/// next build takes in. Throws Error{bad_input} where a scenario cannot be read.
FitStudy fit_evaluated(const std::filesystem::path& directory, const Invocation& invocation,
                       const Observer& observer);

}  // namespace ringside::study
