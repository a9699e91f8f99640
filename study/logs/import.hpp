#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "import/import.hpp"
#include "import/machine/copy_matrices.hpp"
#include "scenario/scenario.hpp"
#include "study/inputs/invocation.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

struct ImportRequest {
  std::filesystem::path log;
  ImportDefaults defaults = {};
  Placement placement = Placement::out_of_place;
};

struct ImportStudy {
  Import import;
  std::filesystem::path directory;
  std::vector<std::filesystem::path> files = {};  ///< One journal per series.
  /// What a log of transfers between two processes says for `known:`, whole sentences; empty for other logs.
  std::vector<std::string> transfers = {};
};

/// Reads what another tool measured and writes it as results. Throws Error{bad_input} for a log without measurements.
ImportStudy import_log(const ImportRequest& request, const Invocation& invocation, const Observer& observer);

/// The log that is meant: for `-` standard input, which is kept beside the results.
std::filesystem::path log_or_pipe(const std::filesystem::path& log, const Invocation& invocation);

/// What a text of another tool holds, as far as its start says.
enum class LogKind { measurements, copies, topology };
LogKind kind_of_log(const std::filesystem::path& log);

struct ImportedCopies {
  CopyMatrices copies;
  /// `{p2p: {bandwidth: 26.3 GB/s}}`, for `known:` or --known; empty where no matrix says it.
  std::string known = {};
};

/// Reads matrices of copies between GPUs. Throws Error{bad_input} when there are none.
ImportedCopies import_copies(const std::filesystem::path& log);

/// Writes `<name>.anonymous.log`, which reads like the log and names nobody (import/anonymise.hpp).
std::filesystem::path anonymise(const std::filesystem::path& log, const Invocation& invocation);

}  // namespace ringside::study
