#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/evaluation/evaluation.hpp"
#include "lab/evaluation/false_alarms.hpp"
#include "study/inputs/invocation.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::lab {

struct EvaluateRequest {
  std::filesystem::path directory;  ///< Directory of scenarios; those with `measured:` count.
  bool points = false;              ///< `evaluation.jsonl` holds every point.
};

struct EvaluateStudy {
  AccuracyReport report;
  std::filesystem::path directory;         ///< That takes charts.
  std::filesystem::path file;              ///< `accuracy.jsonl`, complete.
  std::filesystem::path about;             ///< `evaluation.jsonl`, what evaluation_lines() says beside it.
  std::vector<std::string> problems = {};  ///< As their error says, of scenarios that cannot be read.
  std::size_t scenarios = 0;               ///< All, read or not.
};

/// How well NCCL's all_reduce is predicted over a folder's scenarios. One that cannot be read does not
/// keep the others from being evaluated. Throws Error{bad_input} where nothing can be evaluated.
EvaluateStudy evaluate(const EvaluateRequest& request, const study::Invocation& invocation,
                       const study::Observer& observer);

/// Throws Error{bad_input} that names every scenario that could not be read; nothing where there is none.
void throw_problems(const EvaluateStudy& study);

struct FitStudy {
  NcclStudy study;
  std::filesystem::path directory;  ///< That took the two files.
};

/// Fits the parameters to the systems below `directory` and writes configs/nccl/ (or the invocation's
/// output), which the next build takes in. Throws Error{bad_input} where a scenario cannot be read.
FitStudy fit_evaluated(const std::filesystem::path& directory, const study::Invocation& invocation,
                       const study::Observer& observer);

/// The published systems below a directory, checked against fits that never saw their source; without those
/// that cannot be read. Throws Error{bad_input} where there is none.
FalseAlarms false_alarms(const std::filesystem::path& directory, const study::Observer& observer);

/// The YAML files below a folder, sorted. Throws Error{bad_input} where there is no such folder.
std::vector<std::filesystem::path> scenario_files_below(const std::filesystem::path& directory);

}  // namespace ringside::lab
