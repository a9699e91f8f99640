#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/inputs/invocation.hpp"
#include "study/logs/check.hpp"

namespace ringside::study {

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
