#include "plots/html/page.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/failures.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"

namespace ringside::plots {

// What CMake compiles in (plots/CMakeLists.txt), the first three for fmt::format().
extern const std::string_view kPage;  // Empty where the build did not find Chart.js.
extern const std::string_view kTable;
extern const std::string_view kNext;
extern const std::string_view kRunning;  // What the page of a run that goes on has besides.

namespace {

using fmt::arg;

constexpr std::size_t kMostRows = 4000;

std::string_view side_of(std::string_view header) { return header.find('>') < 2 ? " class=\"right\"" : ""; }

std::string paragraph(std::string_view text, std::string_view look = "note") {
  return text.empty() ? "" : fmt::format("<p class=\"{}\">{}</p>\n", look, escaped(text));
}

std::string table_html(const HtmlTable& shown, int number) {
  const auto& [header, all_rows] = shown.table;
  if (all_rows.empty()) {
    return "";
  }
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
  const auto cut = fmt::format("The first {} of {} rows; the records hold all.", kMostRows, all_rows.size());
  return fmt::format(fmt::runtime(kTable), arg("number", number), arg("title", escaped(shown.title)),
                     arg("explained", paragraph(all_rows.size() > kMostRows ? cut : "")), arg("head", head),
                     arg("rows", rows), arg("remarks", paragraph(shown.remarks)));
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
  constexpr std::array kEntities = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string html;
  for (const char c : printable(text)) {
    const std::size_t at = std::string_view("&<>\"'").find(c);
    html += at < kEntities.size() ? kEntities[at] : std::string(1, c);
  }
  return html;
}

void require_charts() {
  if (kPage.empty()) {
    throw lacking(
        "reports need Chart.js, which was missing when ringside was built; install it (Debian: "
        "libjs-chart.js), configure and build again");
  }
}

std::string report_html(const HtmlReport& report) {
  require_charts();
  std::string sentences;
  for (const std::string& sentence : report.sentences) {
    sentences += paragraph(sentence, sentences.empty() ? "verdict" : "sentence");
  }
  std::string tables;
  for (int number = 0; const HtmlTable& shown : report.tables) {
    tables += table_html(shown, ++number);
  }
  const std::string next = fmt::format("{}", fmt::join(report.next, "\n"));
  const std::string notes = fmt::format("{}", fmt::join(report.notes, "\n"));
  constexpr std::string_view kFact = "<div><dt>{}</dt><dd>{}</dd></div>\n";
  constexpr std::string_view kFile = "<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n";
  return std::string(kPageStart) +
         fmt::format(
             fmt::runtime(kPage), arg("connects", report.live ? "; connect-src 'self'" : ""),
             arg("running", report.live ? kRunning : ""), arg("title", escaped(report.title)),
             arg("subtitle", escaped(report.subtitle)), arg("sentences", sentences + paragraph(notes)),
             arg("winners", table_html(report.winners, 0)),
             arg("next", pairs_html({{"What to try next", next}}, kNext)),
             arg("charts_title", report.points.empty() ? "What would change it" : "Time over message size"),
             arg("tables", tables), arg("facts", pairs_html(report.facts, kFact)),
             arg("files", pairs_html(report.files, kFile)),
             arg("points", json_for_page(chart_data(report.points, report.curves))),
             arg("records", records_element(report.records)));
}

}  // namespace ringside::plots
