#include "scenario/yaml/problems.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {
namespace {

/// Nobody reads more than this; a generated file can have a problem in each of a million lines.
constexpr std::size_t kMaxReported = 50;

/// What users wrote is quoted in messages; a line break in it must not start a line of its own.
std::string on_one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

std::string to_text(const Problem& problem) {
  std::string text = problem.file;
  if (problem.position.line > 0) {
    text += fmt::format(":{}:{}", problem.position.line, problem.position.column);
  }
  if (!problem.key.empty()) {
    text += ": " + problem.key;
  }
  return on_one_line(text + ": " + problem.what);
}

}  // namespace

void report(std::vector<Problem>& problems, std::string_view path, const std::string& origin) {
  for (Problem& problem : problems) {
    const std::string_view key = problem.key;
    const bool within = key.starts_with(path) && key.size() > path.size() &&
                        (key[path.size()] == '.' || key[path.size()] == '[');
    if (key == path || within) {
      problem = {.file = origin, .position = {}, .key = {}, .what = std::move(problem.what)};
    }
  }
}

void throw_problems(std::vector<Problem> problems) {
  RINGSIDE_CHECK(!problems.empty(), "an error without a problem");
  // Files stay in the order in which they were read: the one that the user named comes first.
  std::vector<std::string> files;
  for (const Problem& problem : problems) {
    if (std::find(files.begin(), files.end(), problem.file) == files.end()) {
      files.push_back(problem.file);
    }
  }
  const auto place = [&](const Problem& problem) {
    const auto file = std::find(files.begin(), files.end(), problem.file) - files.begin();
    return std::tuple(file, problem.position.line, problem.position.column);
  };
  std::stable_sort(problems.begin(), problems.end(),
                   [&](const Problem& a, const Problem& b) { return place(a) < place(b); });

  // A key that several systems of a file share is read once for each.
  std::set<std::string> said;
  std::erase_if(problems, [&](const Problem& problem) { return !said.insert(to_text(problem)).second; });

  std::string text;
  for (std::size_t i = 0; i < std::min(problems.size(), kMaxReported); ++i) {
    text += (text.empty() ? "" : "\n") + to_text(problems[i]);
  }
  if (problems.size() > kMaxReported) {
    text += fmt::format("\n{}: and {} more problems", problems.back().file, problems.size() - kMaxReported);
  }
  throw Error(ErrorKind::bad_input, text);
}

}  // namespace ringside
