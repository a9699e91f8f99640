#include "plots/html/page.hpp"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"

namespace ringside::plots {

// What CMake compiles in (plots/CMakeLists.txt), the first three for fmt::format().
extern const std::string_view kPage;  // Empty where the build did not find Chart.js.
extern const std::string_view kTable;
extern const std::string_view kNext;
extern const std::string_view kRunning;  // What the page of a run that goes on has besides.

namespace {

constexpr std::size_t kMostRows = 4000;

std::string_view side_of(std::string_view header) { return header.find('>') < 2 ? " class=\"right\"" : ""; }

std::string paragraph(std::string_view text, std::string_view look = "note") {
  return text.empty() ? "" : fmt::format("<p class=\"{}\">{}</p>\n", look, escaped(text));
}

std::string table_html(const HtmlTable& shown, int number) {
  const auto& [header, all_rows] = shown.table;
  std::string head;
  for (const std::string_view column : header) {
    // Without the marks of a table on a terminal.
    const std::string title = escaped(column.substr(std::min(column.find_first_not_of("?>"), column.size())));
    head += fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>", side_of(column),
                        title.empty() ? "mark" : title);
  }
  std::string rows;
  for (const auto& row : std::span(all_rows).first(std::min(all_rows.size(), kMostRows))) {
    rows += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      rows += fmt::format("<td{}>{}</td>", side_of(header[i]), escaped(row[i]));
    }
    rows += "</tr>\n";
  }
  const std::string cut =
      fmt::format("The first {} of {} rows; the records hold all.", kMostRows, all_rows.size());
  return fmt::format(
      fmt::runtime(kTable), fmt::arg("number", number), fmt::arg("title", escaped(shown.title)),
      fmt::arg("explained", paragraph(all_rows.size() > kMostRows ? cut : "")), fmt::arg("head", head),
      fmt::arg("rows", rows), fmt::arg("remarks", paragraph(shown.remarks)));
}

std::string sentences_html(const HtmlReport& report) {
  std::string html;
  for (const std::string& sentence : report.sentences) {
    html += paragraph(sentence, html.empty() ? "verdict" : "sentence");
  }
  return html + paragraph(fmt::format("{}", fmt::join(report.notes, "\n")));
}

std::string pairs_html(const std::vector<HtmlFact>& pairs, std::string_view form) {
  std::string html;
  for (const auto& [name, text] : pairs) {
    html += text.empty() ? "" : fmt::format(fmt::runtime(form), escaped(name), escaped(text));
  }
  return html;
}

}  // namespace

std::string escaped(std::string_view text) {
  static const std::map<char, std::string_view> kEntities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string html;
  for (const char c : printable(text)) {
    const auto entity = kEntities.find(c);
    entity == kEntities.end() ? html += c : html += entity->second;
  }
  return html;
}

void require_charts() {
  if (kPage.empty()) {
    throw Error(ErrorKind::environment,
                "reports need Chart.js, which was missing when ringside was built; install it (Debian: "
                "libjs-chart.js), configure and build again");
  }
}

std::string report_html(const HtmlReport& report) {
  require_charts();
  std::string tables;
  int number = 0;
  for (const HtmlTable& shown : report.tables) {
    tables += shown.table.rows.empty() ? "" : table_html(shown, ++number);
  }
  return std::string(kPageStart) +
         fmt::format(
             fmt::runtime(kPage), fmt::arg("connects", report.live ? "; connect-src 'self'" : ""),
             fmt::arg("title", escaped(report.title)), fmt::arg("subtitle", escaped(report.subtitle)),
             fmt::arg("running", report.live ? kRunning : ""), fmt::arg("sentences", sentences_html(report)),
             fmt::arg("winners", report.winners.table.rows.empty() ? "" : table_html(report.winners, 0)),
             fmt::arg(
                 "next",
                 pairs_html({{"What to try next", fmt::format("{}", fmt::join(report.next, "\n"))}}, kNext)),
             fmt::arg("charts_title",
                      report.points.empty() ? "What would change it" : "Time over message size"),
             fmt::arg("tables", tables),
             fmt::arg("facts", pairs_html(report.facts, "<div><dt>{}</dt><dd>{}</dd></div>\n")),
             fmt::arg("files",
                      pairs_html(report.files,
                                 "<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n")),
             fmt::arg("points", json_for_page(chart_data(report.points, report.curves))),
             fmt::arg("records", records_element(report.records)));
}

}  // namespace ringside::plots
