#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace ringside {

/// 1-based, in characters; line 0 = the file as a whole.
struct Position {
  int line = 0;
  int column = 0;
};

/// What is wrong with a file that people write; problems are collected so that all are reported at once.
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

/// A YAML file that is one map: what it is called, and where in it a node stands.
class Document {
 public:
  const std::string& file() const { return file_; }
  const YAML::Node& root() const { return root_; }
  /// The position of a mark of yaml-cpp, which counts from 0 and in bytes.
  Position position(const YAML::Mark& mark) const;

 private:
  friend std::optional<Document> parse_document(const std::string&, std::string, std::vector<Problem>&, bool);

  std::string file_;
  std::string text_;
  std::vector<std::size_t> line_starts_;
  std::vector<std::size_t> continuations_;  ///< Bytes that go on with a character of several.
  YAML::Node root_;
};

/// Nothing when `text` is no YAML map; then `problems` says why. `file` is for messages. `ours` is
/// compiled in: a text that has one document and no open quote, which only a second parse tells.
std::optional<Document> parse_document(const std::string& file, std::string text,
                                       std::vector<Problem>& problems, bool ours = false);

/// Likewise for a file on disk, which may also be missing, a directory, unreadable or no text. `shown` is
/// what messages call it.
std::optional<Document> read_document(const std::filesystem::path& file, const std::string& shown,
                                      std::vector<Problem>& problems);

/// One value as YAML writes it. Throws Error{bad_input} that begins with `origin` when it is none.
YAML::Node parse_value(const std::string& text, const std::string& origin);

}  // namespace ringside
