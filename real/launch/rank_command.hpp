#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "real/launch/launch_options.hpp"

namespace ringside {

/// Splits a command line into words as a shell would: blanks separate, 'single' and "double" quotes and
/// backslashes protect; nothing is expanded. Throws Error{bad_input} for a quote without its end.
std::vector<std::string> split_words(std::string_view command);

/// The command that starts `rank`: the words of `wrap`, then this program, `rank`, and its arguments.
std::vector<std::string> rank_command(const LaunchOptions& options, Rank rank, int num_ranks);

/// What rank_command() tells a rank about itself.
struct RankArguments {
  Rank rank = 0;
  int num_ranks = 1;
};

/// Throws Error{bad_input} for anything but what rank_command() writes.
RankArguments parse_rank_arguments(std::span<const std::string> arguments);

}  // namespace ringside
