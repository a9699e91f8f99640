#include "real/launch/rank_command.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t place = text.find(what); place != std::string::npos;
       place = text.find(what, place + by.size())) {
    text.replace(place, what.size(), by);
  }
}

/// Not /proc/self/exe itself: behind a wrapper that would be the wrapper.
std::string this_program() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    throw lacking("ringside cannot find its own program to start ranks: {}", error.message());
  }
  return program.string();
}

}  // namespace

std::vector<std::string> split_words(std::string_view command) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && blank) {
      in_word = false;
      continue;
    }
    if (!in_word) {
      words.emplace_back();
      in_word = true;
    }
    // Within double quotes a backslash protects the quote and itself alone, within single quotes nothing.
    const char next = i + 1 < command.size() ? command[i + 1] : '\0';
    if (c == '\\' && next != '\0' && (quote == '\0' || (quote == '"' && (next == '"' || next == '\\')))) {
      words.back() += next;
      ++i;
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') {
    throw bad_input("the command `{}` has a {} without its end", command, quote);
  }
  return words;
}

std::vector<std::string> rank_command(const LaunchOptions& options, Rank rank, int num_ranks) {
  std::vector<std::string> command;
  if (options.wrap) {
    command = split_words(*options.wrap);
    for (std::string& word : command) {
      replace_all(word, "{rank}", fmt::to_string(rank));
      replace_all(word, "{host}", fmt::format("host{}", rank));
    }
  }
  command.push_back(options.program ? options.program->string() : this_program());
  for (const std::string& argument :
       {std::string("rank"), fmt::to_string(rank), std::string("of"), fmt::to_string(num_ranks)}) {
    command.push_back(argument);
  }
  return command;
}

RankArguments parse_rank_arguments(std::span<const std::string> arguments) {
  if (arguments.size() == 3 && arguments[1] == "of") {
    const std::optional<int> rank = parse_number<int>(arguments[0]);
    const std::optional<int> num_ranks = parse_number<int>(arguments[2]);
    if (rank && num_ranks && 0 <= *rank && *rank < *num_ranks) {
      return {.rank = *rank, .num_ranks = *num_ranks};
    }
  }
  throw bad_input("`ringside rank` is how ringside starts its own ranks; use `ringside measure SCENARIO`");
}

}  // namespace ringside
