#pragma once

#include <string>
#include <vector>

#include "lab/planning/decisions.hpp"
#include "lab/planning/published_runs.hpp"
#include "lab/planning/published_speeds.hpp"

/// How well published runs of language models are planned, class by class, beside what needs no planner.
namespace ringside {

struct RunClassScore {
  std::string name;
  std::size_t sources = 0;
  FactorSummary planned;
  double sources_alike = 1;  ///< Median of the medians of the sources.
  double width = 1;          ///< High over low end of the interval, median.
  FactorSummary rule_40;     ///< 6 · parameters · tokens at 40 % of the data sheet.
  FactorSummary mfu_50;      ///< Operations of the model, with attention, at half of the data sheet.
  FactorSummary elsewhere;   ///< 6 · parameters · tokens at the median share of all other sources.
};

/// In the order of the page; classes without rows are left out. A row is of several classes.
std::vector<RunClassScore> scores_of(const std::vector<RunCheck>& checks);

/// Runs of the same model, sequence, precision, adapters and source are of the same work.
std::vector<Candidate> candidates_of(const std::vector<RunCheck>& checks);

/// Published peaks of memory, and what ran or did not.
struct MemoryScore {
  FactorSummary peak;     ///< Planned over published peaks.
  double close = 0;       ///< Share of them within 15 %.
  std::size_t ran = 0;    ///< Runs that did not run out of memory,
  std::size_t fit = 0;    ///< and of these as many are planned to fit.
  std::size_t burst = 0;  ///< Runs that ran out of memory,
  std::size_t refused = 0;
  std::vector<std::string> exceptions;  ///< What is planned otherwise than it was.
};
MemoryScore memory_score_of(const std::vector<RunCheck>& checks);

}  // namespace ringside
