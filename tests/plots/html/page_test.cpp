#include "plots/html/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/codec/reader.hpp"
#include "tests/plots/samples.hpp"

namespace ringside::plots {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kHostile = "</script><img src=x onerror=\"alert('1')\">&\x1b[0m\u202e";

TEST(Escaped, LeavesNothingThatIsMarkup) {
  EXPECT_EQ(escaped("a < b & c > \"d\" 'e'"), "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;");
  EXPECT_EQ(escaped("line\n\x1b[31m"), "line\n\\u001b[31m");
  EXPECT_EQ(escaped("\u202e"), "\\u202e");
  EXPECT_EQ(escaped("\xff"), "\uFFFD");
}

TEST(ChartData, HasAPanelForEachNumberOfRanksAndTheColoursOfThePictures) {
  const std::string json = chart_data(samples::sweep());
  for (const char* part : {R"("title":"all_reduce, 2 ranks")", R"("title":"all_reduce, 8 ranks")",
                           R"("name":"naive","color":"#d55e00","dash":[],"shape":"circle")",
                           R"("name":"tutorial_ring","color":"#56b4e9","dash":[8,5],"shape":"rect")",
                           R"("name":"ring","color":"#0072b2")", "90 % interval", "95 % interval"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

TEST(PageRecords, ReadBackAsTheSameRecords) {
  RunHeader header;
  header.scenario.name = kHostile;
  std::vector<Point> points = samples::sweep();
  std::string lines = to_line(Record(header)) + '\n';
  for (const Point& point : points) {
    lines += to_line(point) + '\n';
  }
  HtmlReport report{.title = std::string(kHostile), .points = points, .records = lines};
  report.tables.push_back(
      {.title = "All times", .table = {.header = {">size", "remark"}, .rows = {{"1", "2"}}}});
  try {
    require_charts();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const std::string page = report_html(report);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));

  const Results read = parse_results(page, "report.html");
  EXPECT_EQ(to_line(Record(read.header)), to_line(Record(header)));
  ASSERT_EQ(read.points.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(to_line(read.points[i]), to_line(points[i]));
  }
}

TEST(PageRecords, APageThatWasCutOrChangedIsRefused) {
  const std::string page = std::string(kPageStart) + records_element("{}\n");
  EXPECT_EQ(records_in(page, "a.html"), "{}\n");
  EXPECT_THROW(records_in(page.substr(0, page.size() - 2), "a.html"), Error);
  std::string changed = page;
  changed[page.find("{}") + 1] = ' ';
  EXPECT_THROW(records_in(changed, "a.html"), Error);
  EXPECT_EQ(records_in("{}\n", "a.html"), "{}\n");
}

}  // namespace
}  // namespace ringside::plots
