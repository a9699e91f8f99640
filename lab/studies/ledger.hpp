#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/codec/record.hpp"
#include "study/ranks/observer.hpp"

/// Predictions that are written down before anybody reads the times that they are about, and scored once. A
/// ledger is a CSV file, a row for every point of NCCL's own collectives.
namespace ringside::lab {

struct LedgerRequest {
  std::filesystem::path directory;  ///< Holds scenarios.
  std::filesystem::path ledger;
};

struct Frozen {
  int scenarios = 0;
  int points = 0;
  std::vector<std::string> skipped = {};  ///< `<scenario>: <why nothing is predicted>`.
};

/// Predicts `native` of every scenario below the folder, whatever `measured:` it names, which is not opened.
/// Throws Error{bad_input} where the ledger exists already or nothing can be predicted.
Frozen freeze(const LedgerRequest& request, const study::Observer& observer);

struct LedgerScores {
  std::vector<Accuracy> scenarios = {};  ///< In the order of the ledger.
  Accuracy all = {};                     ///< Over all points.
  int not_measured = 0;                  ///< Frozen points without a measured time.
  std::filesystem::path file;            ///< The ledger with the measured times, `<ledger>.scored.csv`.
};

/// Scores a ledger with its scenarios' measurements, and writes it there. Throws Error{bad_input} if scored
/// before, where a scenario is no longer what was predicted, and where one has no `measured:`.
LedgerScores score(const LedgerRequest& request, const study::Observer& observer);

}  // namespace ringside::lab
