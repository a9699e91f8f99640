#pragma once

#include <string>

#include "cli/commands.hpp"

/// What `ringside plan --validate` prints.
namespace ringside::cli {

/// Predicted beside published, every row of a table: scaling, speeds of one GPU, or runs of language models.
void print_validation(const std::string& file, const CommonOptions& common);

}  // namespace ringside::cli
