#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
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

/// Unit and meaning of a field, as the page has them: they stand nowhere else.
using Meanings = std::map<std::string, std::string>;

/// By path, in the rows "| `path` | unit | meaning |" of a table.
Meanings meanings_in(const std::string& table) {
  Meanings meanings;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find("` |");
    if (line.starts_with("| `") && end != std::string::npos) {
      meanings[line.substr(3, end - 3)] = line.substr(end + 3);
    }
  }
  return meanings;
}

/// The fields inside the map at `path`; empty for a field that is no map.
std::vector<std::string> inside(const std::vector<std::string>& fields, const std::string& path) {
  std::vector<std::string> result;
  for (const std::string& field : fields) {
    if (field.starts_with(path + ".")) {
      result.push_back(field.substr(path.size()));
    }
  }
  return result;
}

/// A map whose fields stand on the page already may have one row that names the place: "…; fields as `limit`"
/// or "fields as above". `shown`: fields of the maps so far, by path.
template <typename T>
std::string markdown_table(const Meanings& meanings, std::map<std::string, std::vector<std::string>>& shown) {
  const FieldTable<T>& table = field_table<T>();
  std::string text =
      fmt::format("| field | unit | meaning |\n|---|---|---|\n| `record` | | `{}` |\n", table.record);
  const std::vector<std::string> fields = paths(table.fields);
  std::string skipped = "no map";
  for (const std::string& field : fields) {
    if (field.starts_with(skipped + ".")) {
      continue;
    }
    const auto known = meanings.find(field);
    const std::string meaning = known == meanings.end() ? " |  |" : known->second;
    if (const std::size_t place = meaning.find("fields as "); place != std::string::npos) {
      const std::string named = meaning.substr(place + 10, meaning.rfind(" |") - place - 10);
      EXPECT_EQ(shown[named == "above" ? field : named.substr(1, named.size() - 2)], inside(fields, field))
          << field;
      skipped = field;
    } else {
      shown[field] = inside(fields, field);
    }
    text += fmt::format("| `{}` |{}\n", field, meaning);
  }
  return text;
}

/// What stands between the markers is replaced by the table.
template <typename T>
void put_table(std::string& page, std::map<std::string, std::vector<std::string>>& shown) {
  const std::string what = fmt::format("fields of {}", field_table<T>().record);
  const std::string begin = fmt::format("<!-- {} -->\n", what);
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find(fmt::format("<!-- end of {} -->", what));
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << "docs/results.md lacks the " << what;
  const std::size_t rows = from + begin.size();
  page.replace(rows, to - rows, markdown_table<T>(meanings_in(page.substr(rows, to - rows)), shown));
}

template <typename... Kinds>
void put_tables(std::string& page, const std::variant<Kinds...>* /*type*/) {
  std::map<std::string, std::vector<std::string>> shown;
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
         "which writes their rows, and say what new ones mean";
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
