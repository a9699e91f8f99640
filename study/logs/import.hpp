#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "import/import.hpp"
#include "import/machine/copy_matrices.hpp"
#include "scenario/scenario.hpp"
#include "study/inputs/invocation.hpp"
#include "study/logs/check.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

struct ImportRequest {
  std::filesystem::path log;
  ImportDefaults defaults = {};
};

/// What was written of one table.
struct ImportedSeries {
  std::size_t line = 0;
  std::size_t rows = 0;
  std::size_t wrong = 0;
  std::vector<std::string> kinds = {};
};

struct ImportStudy {
  Import import;  ///< Without its points, which may be a million.
  std::vector<ImportedSeries> series = {};
  std::filesystem::path directory;
  std::optional<std::filesystem::path> file = {};  ///< The journal; none where a log holds transfers alone.
  /// What a log of transfers between two processes says for `known:`, whole sentences; empty for other logs.
  std::vector<std::string> transfers = {};
};

/// Reads another tool's log and writes results. Throws Error{bad_input} without measurements.
ImportStudy import_log(const ImportRequest& request, const Invocation& invocation, const Observer& observer);

/// The log; `-` is standard input, kept beside the results. Throws Error{bad_input} beyond `most` bytes.
std::filesystem::path log_or_pipe(const std::filesystem::path& log, const Invocation& invocation,
                                  std::uint64_t most);

/// What a text of another tool holds, as far as its start says.
enum class LogKind { measurements, copies, topology };
LogKind kind_of_log(const std::filesystem::path& log);

struct ImportedCopies {
  CopyMatrices copies;
  /// `{p2p: {bandwidth: 26.3 GB/s}}`, for `known:` or --known; empty where no matrix says it.
  std::string known = {};
};

/// Reads matrices of copies between GPUs. Throws Error{bad_input} when there are none.
ImportedCopies import_copies(const std::filesystem::path& log, std::uint64_t most);

/// Writes `<name>.anonymous.log`, which reads like the log and names nobody (import/anonymise.hpp).
std::filesystem::path anonymise(const std::filesystem::path& log, const Invocation& invocation,
                                std::uint64_t most);

struct SubmitRequest {
  std::filesystem::path log;
  CheckRequest machine = {};               ///< What it was measured on, as for a check.
  std::optional<std::string> source = {};  ///< Where it is published.
};

struct Submission {
  std::filesystem::path source;  ///< That were written.
  std::filesystem::path table;
  std::vector<std::string> missing =
      {};  ///< What a reader of configs/evaluation has to know and neither log nor request says.
};

/// Writes a source's two files for configs/evaluation without names. Throws as LogChecker.
Submission submit(const SubmitRequest& request, const Invocation& invocation);

}  // namespace ringside::study
