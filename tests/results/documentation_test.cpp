#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/reader.hpp"
#include "tests/paths.hpp"
#include "tests/results/examples.hpp"

/// docs/results.md and the serialiser must name the same fields.
namespace ringside {
namespace {

/// `point: measured.seconds` for every field that a record can hold; what the user names (host facts) is one field.
void collect(const nlohmann::json& object, const std::string& kind, const std::string& prefix,
             std::set<std::string>& fields) {
  for (const auto& [key, value] : object.items()) {
    const std::string path = prefix + key;
    fields.insert(kind + ": " + path);
    if (value.is_object() && path != "host") {
      collect(value, kind, path + ".", fields);
    }
  }
}

std::set<std::string> written_fields() {
  std::set<std::string> fields;
  for (const Record& record : examples::full_records()) {
    const auto json = nlohmann::json::parse(to_line(record));
    collect(json, json["record"].get<std::string>(), "", fields);
  }
  return fields;
}

/// Rows "| `field` | …" below a heading "## `kind`".
std::set<std::string> documented_fields() {
  std::set<std::string> fields;
  std::string kind;
  const std::string page = read_text(RINGSIDE_SOURCE_DIR "/docs/results.md");
  for (std::size_t start = 0; start < page.size();) {
    const std::size_t end = std::min(page.find('\n', start), page.size());
    const std::string line = page.substr(start, end - start);
    start = end + 1;
    const auto quoted = [&](std::size_t from) { return line.substr(from, line.find('`', from) - from); };
    if (line.starts_with("## `")) {
      kind = quoted(4);
    } else if (line.starts_with("| `") && !kind.empty()) {
      fields.insert(kind + ": " + quoted(3));
    }
  }
  return fields;
}

TEST(Documentation, ListsEveryFieldOfEveryRecordAndNoOther) {
  EXPECT_THAT(documented_fields(), testing::ContainerEq(written_fields()));
}

TEST(Documentation, ShowsLinesThatCanBeRead) {
  const std::string page = read_text(RINGSIDE_SOURCE_DIR "/docs/results.md");
  int shown = 0;
  for (std::size_t start = page.find("\n{\"record\""); start != std::string::npos;
       start = page.find("\n{\"record\"", start + 1)) {
    const std::string line = page.substr(start + 1, page.find('\n', start + 1) - start - 1);
    EXPECT_TRUE(parse_record(line).has_value()) << line;
    ++shown;
  }
  EXPECT_GE(shown, 5) << "one line of each kind";
}

}  // namespace
}  // namespace ringside
