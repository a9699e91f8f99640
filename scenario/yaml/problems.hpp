#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What is wrong with files that people write, collected so that all of it is reported at once.
namespace ringside {

/// 1-based, in characters; line 0 = the file as a whole.
struct Position {
  int line = 0;
  int column = 0;
};

struct Problem {
  std::string file;  ///< As the user named it.
  Position position;
  std::string key;  ///< Empty when no key is at fault.
  std::string what;
};

/// Problems of the key at `path`, or of something in its value, are of `origin` and stand in no file: the
/// value came from there.
void report(std::vector<Problem>& problems, std::string_view path, const std::string& origin);

/// Throws Error{bad_input} with one line per problem, `file:line:column: key: what`, in the order in which
/// they stand in the files.
[[noreturn]] void throw_problems(std::vector<Problem> problems);

}  // namespace ringside
