#include "plots/html/page.hpp"

#include <fmt/format.h>
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

TEST(ChartData, SaysOfEveryPointWhatIsDrawnAndReadAtIt) {
  PointKey key{.algorithm = "ring", .ranks = 2, .bytes = {1024}};
  Point both{.key = key,
             .predicted = Prediction{.seconds = {1e-3}, .low = Seconds{8e-4}, .high = Seconds{2e-3}},
             .measured = Measurement{.seconds = {1.5e-3}, .low = {1.25e-3}, .high = {1.75e-3}}};
  key.bytes = {2048};
  const Point without_interval{
      .key = key, .predicted = Prediction{.seconds = {3e-3}, .low = {}, .high = {}}, .measured = {}};
  EXPECT_EQ(
      chart_data({both, without_interval}),
      R"([{"title":"all_reduce, 2 ranks","ranks":2,"fills":true,)"
      R"("sizes":[[1024,"1 KiB"],[2048,"2 KiB"]],"series":[{"name":"ring","color":"#0072b2","dash":[],)"
      R"("shape":"triangle","angle":0,)"
      R"("predicted":[[1024.0,0.001,0.0008,0.002,"1 KiB","1 ms, 90 % interval 800 µs to 2 ms"],)"
      R"([2048.0,0.003,0.003,0.003,"2 KiB","3 ms"]],)"
      R"("measured":[[1024.0,0.0015,0.00125,0.00175,"1 KiB","1.5 ms, 95 % interval 1.25 ms to 1.75 ms"]]}]}])");
  both.key.algorithm = "binomial_tree";
  EXPECT_THAT(chart_data({both}), HasSubstr(R"("shape":"triangle","angle":180)"));
}

TEST(ChartData, CurvesOfAPlanTakeColoursDashesAndMarksInTurn) {
  const HtmlCurves chart{.title = "Efficiency",
                         .x = "GPUs",
                         .y = "efficiency",
                         .x_text = [](double x) { return fmt::format("{} GPUs", x); },
                         .curves = {{.label = "one", .points = {{1, 1}, {2, 0.75}}, .mark = XY{2, 0.5}},
                                    {.label = "other", .points = {{4, 0.25}}},
                                    {.label = "third", .points = {{4, 0.25}}},
                                    {.label = "fourth", .points = {{4, 0.25}}}}};
  const std::string json = chart_data({}, {chart});
  for (const char* part :
       {R"([{"title":"Efficiency","x":"GPUs","y":"efficiency","fills":false,)",
        R"("sizes":[[1.0,"1 GPUs"],[2.0,"2 GPUs"],[4.0,"4 GPUs"]])",
        R"("name":"one","color":"#0072b2","dash":[],"shape":"circle","angle":0,)"
        R"("predicted":[[1.0,1.0,1.0,1.0,"1 GPUs","100 %"],[2.0,0.75,0.75,0.75,"2 GPUs","75 %"]],)"
        R"("measured":[[2.0,0.5,0.5,0.5,"2 GPUs","50 %"]]})",
        R"("name":"other","color":"#e69f00","dash":[8,5],"shape":"rect","angle":0,)"
        R"("predicted":[[4.0,0.25,0.25,0.25,"4 GPUs","25 %"]],"measured":[]})",
        R"("name":"third","color":"#009e73","dash":[2,4],"shape":"triangle","angle":0)",
        R"("name":"fourth","color":"#d55e00","dash":[8,4,2,4],"shape":"triangle","angle":180)"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

TEST(Page, SaysEveryPartOfAReport) {
  HtmlReport report{.title = "a title",
                    .subtitle = "a subtitle",
                    .sentences = {"the verdict", "a sentence"},
                    .notes = {"one note", "another"},
                    .next = {"try this", "  command"},
                    .facts = {{"machine", "host"}, {"nothing", ""}},
                    .files = {{"machine.yaml", "name: host"}}};
  report.winners = {.title = "Winners", .table = {.header = {"?", ">size"}, .rows = {{"*", "1 KiB"}}}};
  report.tables = {
      {.title = "All times", .table = {.header = {"algorithm"}, .rows = {{"ring"}}}, .remarks = "by hand"},
      {.title = "no rows", .table = {.header = {"algorithm"}, .rows = {}}}};
  try {
    require_charts();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const std::string page = report_html(report);
  for (const char* part : {"<title>a title – ringside</title>", "<p class=\"note\">a subtitle</p>",
                           "<p class=\"verdict\">the verdict</p>\n<p class=\"sentence\">a sentence</p>\n<p "
                           "class=\"note\">one note\nanother</p>",
                           "try this\n  command", "<h2 id=\"time\">What would change it</h2>",
                           "<th scope=\"col\"><button type=\"button\">mark</button></th><th scope=\"col\" "
                           "class=\"right\"><button "
                           "type=\"button\">size</button></th>",
                           "<tr><td>*</td><td class=\"right\">1 KiB</td></tr>", "<tr><td>ring</td></tr>",
                           "<p class=\"note\">by hand</p>", "<div><dt>machine</dt><dd>host</dd></div>",
                           "<summary>machine.yaml</summary><pre tabindex=\"0\">name: host</pre>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  for (const char* part : {"<dt>nothing</dt>", "no rows", "connect-src"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  report.live = true;
  report.points = samples::sweep({.algorithms = {"ring"}, .ranks = {2}});
  EXPECT_THAT(report_html(report), HasSubstr("; connect-src 'self'"));
  EXPECT_THAT(report_html(report), HasSubstr("<h2 id=\"time\">Time over message size</h2>"));
}

TEST(Page, ShowsAsManyRowsOfATableAsABrowserTakesAndSaysSo) {
  HtmlReport report;
  report.tables = {{.title = "times",
                    .table = {.header = {"row"}, .rows = std::vector(4000, std::vector<std::string>{"x"})}}};
  try {
    require_charts();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const std::string cut = "<p class=\"note\">The first 4000 of 4001 rows; the records hold all.</p>";
  EXPECT_THAT(report_html(report), Not(HasSubstr("; the records hold all.")));
  report.tables[0].table.rows.push_back({"the last one"});
  EXPECT_THAT(report_html(report), HasSubstr(cut));
  EXPECT_THAT(report_html(report), Not(HasSubstr("the last one")));
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
