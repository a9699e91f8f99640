#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "scenario/yaml/document.hpp"
#include "scenario/yaml/keys.hpp"

namespace ringside {

/// A value of a document and where it stands.
struct Value {
  YAML::Node node;
  std::string key;  ///< Names the whole path: `intra.bandwidth`; empty for the document itself.
  Position position;
};

/// Walks one document and collects what is wrong with it. Reading functions return nothing after they have
/// added a problem, so that reading goes on with the next key.
class Reader {
 public:
  /// `algorithms`: names that `known` may use; empty = they cannot be checked. Document and problems must
  /// outlive the reader.
  Reader(const Document& document, std::vector<Problem>& problems, std::vector<std::string> algorithms = {});

  const std::string& file() const { return document_.file(); }
  std::span<const std::string> algorithms() const { return algorithms_; }
  std::vector<Problem>& problems() { return problems_; }
  std::size_t num_problems() const { return problems_.size(); }

  Value root() const;
  std::vector<Value> items(const Value& list) const;
  /// The value of a key of `map`.
  Value at(const Value& map, const YAML::Node& key, const YAML::Node& value) const;
  /// The value of the first key of this name; nothing when there is none or `map` is no map.
  std::optional<Value> find(const Value& map, std::string_view key) const;

  void fail(const Value& value, std::string what);
  /// What is wrong, put together by fmt.
  template <typename Part, typename... Parts>
  void fail(const Value& value, fmt::format_string<Part, Parts...> what, Part&& part, Parts&&... parts) {
    fail(value, fmt::format(what, std::forward<Part>(part), std::forward<Parts>(parts)...));
  }

  /// The text of a single value; `form` says in messages what was expected.
  std::optional<std::string> scalar(const Value& value, std::string_view form);

  /// An entry of a map and the index of its key in `known`.
  struct Entry {
    std::size_t key = 0;
    Value value;
  };

  /// The entries of a map. Keys not in `known`, twice there, or of another `kind` than the map's,
  /// and required ones that are missing are problems and left out. Nothing when the value is no map.
  std::optional<std::vector<Entry>> entries(const Value& map, std::string_view form,
                                            std::span<const KeyDescription* const> known);

 private:
  const Document& document_;
  std::vector<Problem>& problems_;
  std::vector<std::string> algorithms_;
};

/// `a list`, `a map`, …: for messages.
std::string_view shape(const YAML::Node& node);

/// What the user wrote, short enough for a message: `'4 KiB'`.
std::string in_quotes(std::string_view text);

/// What `read` makes of a document. Throws Error{bad_input} with all problems of the two.
template <typename Read>
auto read_whole(const std::optional<Document>& document, std::vector<Problem>& problems, Read read,
                std::vector<std::string> algorithms = {}) {
  std::optional<std::invoke_result_t<Read, Reader&>> value;
  if (document) {
    Reader reader(*document, problems, std::move(algorithms));
    value = read(reader);
  }
  if (!problems.empty()) {
    throw_problems(std::move(problems));
  }
  return std::move(*value);
}

}  // namespace ringside
