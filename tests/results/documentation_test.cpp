#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/codec/field_table.hpp"
#include "results/codec/reader.hpp"
#include "tests/paths.hpp"
#include "tests/results/examples.hpp"

/// The tables of docs/results.md are those of the records' fields.
namespace ringside {
namespace {

constexpr const char* kPage = RINGSIDE_SOURCE_DIR "/docs/results.md";

std::string escaped(std::string text) {
  for (std::size_t place = 0; (place = text.find('|', place)) != std::string::npos; place += 2) {
    text.insert(place, "\\");
  }
  return text;
}

/// Maps that the page has shown: their fields, as text, and the path of the first map that has them.
using ShownMaps = std::map<std::string, std::string>;

/// The fields of the map at `path`, one line each; empty for a field that is no map.
std::string fields_of_map(const std::vector<FieldDescription>& fields, const FieldDescription& map) {
  std::string text;
  for (const FieldDescription& field : fields) {
    if (field.path.starts_with(map.path + ".")) {
      text += fmt::format("{} {} {}\n", field.path.substr(map.path.size()),
                          field.unit == map.unit ? "" : field.unit, field.meaning);
    }
  }
  return text;
}

/// A map whose fields stand on the page already has one row that names the place.
template <typename T>
std::string markdown_table(ShownMaps& shown) {
  const FieldTable<T>& table = field_table<T>();
  std::string text =
      fmt::format("| field | unit | meaning |\n|---|---|---|\n| `record` | | `{}` |\n", table.record);
  const std::vector<FieldDescription> fields = descriptions(table.fields);
  std::string skipped = "no map";
  for (const FieldDescription& field : fields) {
    if (field.path.starts_with(skipped + ".")) {
      continue;
    }
    std::string meaning = escaped(field.meaning);
    if (const std::string inside = fields_of_map(fields, field); !inside.empty()) {
      const auto [first, is_new] = shown.emplace(inside, field.path);
      if (!is_new) {
        skipped = field.path;
        meaning += first->second == field.path ? "; fields as above"
                                               : fmt::format("; fields as `{}`", first->second);
      }
    }
    text +=
        fmt::format("| `{}` |{} | {} |\n", field.path, field.unit.empty() ? "" : " " + field.unit, meaning);
  }
  return text;
}

/// What stands between the markers is replaced by the table.
template <typename T>
void put_table(std::string& page, ShownMaps& shown) {
  const std::string what = fmt::format("fields of {}", field_table<T>().record);
  const std::string begin = fmt::format("<!-- {} -->\n", what);
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find(fmt::format("<!-- end of {} -->", what));
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << "docs/results.md lacks the " << what;
  page.replace(from + begin.size(), to - from - begin.size(), markdown_table<T>(shown));
}

template <typename... Kinds>
void put_tables(std::string& page, const std::variant<Kinds...>* /*type*/) {
  ShownMaps shown;
  (put_table<Kinds>(page, shown), ...);
}

TEST(Documentation, ShowsTheFieldsOfEveryRecord) {
  const std::string page = read_text(kPage);
  std::string generated = page;
  put_tables(generated, static_cast<const Record*>(nullptr));
  if (std::getenv("RINGSIDE_WRITE_DOCS") != nullptr) {
    examples::write_file(kPage, generated);
    return;
  }
  EXPECT_TRUE(page == generated)
      << "docs/results.md does not show the fields of results/; run this test with RINGSIDE_WRITE_DOCS=1, "
         "which writes the tables";
}

TEST(Documentation, SaysWhatEachFieldMeans) {
  const std::string page = read_text(kPage);
  EXPECT_EQ(page.find("|  |\n"), std::string::npos) << "a field without a meaning";
}

TEST(Documentation, ShowsLinesThatCanBeRead) {
  const std::string page = read_text(kPage);
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
