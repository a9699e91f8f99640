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

/// Writes the two files that configs/evaluation holds of a source: no names of hosts or people are in them. Throws as LogChecker does.
Submission submit(const SubmitRequest& request, const Invocation& invocation);

}  // namespace ringside::study
