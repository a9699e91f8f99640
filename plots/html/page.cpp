#include "plots/html/page.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"

namespace ringside::plots {

// What CMake compiles in (plots/CMakeLists.txt).
extern const std::string_view kPage;     // For fmt::format(); empty where the build did not find Chart.js.
extern const std::string_view kRunning;  // What the page of a run that goes on has besides.

namespace {

bool stands_right(const std::string& header) { return header.find('>') < 2; }

/// Without the marks of a table on a terminal.
std::string_view plain_title(std::string_view header) {
  return header.substr(std::min(header.find_first_not_of("?>"), header.size()));
}

std::string paragraph(std::string_view text, std::string_view look = "note") {
  return text.empty() ? "" : fmt::format("<p class=\"{}\">{}</p>\n", look, escaped(text));
}

std::string table_html(const HtmlTable& table, std::size_t number) {
  std::string html = fmt::format(
      "<section class=\"table\" aria-labelledby=\"t{0}\">\n<h2 id=\"t{0}\">{1}</h2>\n{2}"
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"t{0}\">\n<table>\n<thead><tr>",
      number, escaped(table.title), paragraph(table.explained));
  for (const std::string& header : table.header) {
    const std::string title = escaped(plain_title(header));
    html += fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>",
                        stands_right(header) ? " class=\"right\"" : "", title.empty() ? "mark" : title);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += fmt::format("<td{}>{}</td>", stands_right(table.header[i]) ? " class=\"right\"" : "",
                          escaped(row[i]));
    }
    html += "</tr>\n";
  }
  return fmt::format(
      "{}</tbody>\n</table>\n</div>\n<button type=\"button\" class=\"copy\">Copy as CSV</button>\n{}"
      "</section>\n",
      html, paragraph(table.remarks));
}

std::string sentences_html(const HtmlReport& report) {
  std::string html;
  for (const std::string& sentence : report.sentences) {
    html += paragraph(sentence, html.empty() ? "verdict" : "sentence");
  }
  for (const std::string& note : report.notes) {
    html += paragraph(note);
  }
  return html;
}

std::string next_html(const std::vector<std::string>& lines) {
  return lines.empty() ? ""
                       : fmt::format(
                             "<section aria-labelledby=\"next\">\n<h2 id=\"next\">What to try "
                             "next</h2>\n{}</section>\n",
                             paragraph(fmt::format("{}", fmt::join(lines, "\n")), "next"));
}

std::string pairs_html(const std::vector<HtmlFact>& pairs, std::string_view before, std::string_view between,
                       std::string_view after) {
  std::string html;
  for (const auto& [name, text] : pairs) {
    html +=
        text.empty() ? "" : fmt::format("{}{}{}{}{}\n", before, escaped(name), between, escaped(text), after);
  }
  return html;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::array<std::string_view, 5> kEntities = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string html;
  for (const char c : with_directions_spelt(valid_utf8(std::string(text)))) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t at = kSpecial.find(c); at != std::string_view::npos) {
      html += kEntities.at(at);
    } else if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) {
      html += fmt::format("\\u{:04x}", byte);
    } else {
      html += c;
    }
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
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    tables += table_html(report.tables[i], i + 1);
  }
  return std::string(kPageStart) +
         fmt::format(fmt::runtime(kPage), fmt::arg("connects", report.live ? "; connect-src 'self'" : ""),
                     fmt::arg("title", escaped(report.title)), fmt::arg("subtitle", escaped(report.subtitle)),
                     fmt::arg("running", report.live ? kRunning : ""),
                     fmt::arg("sentences", sentences_html(report)),
                     fmt::arg("winners", report.winners.rows.empty() ? "" : table_html(report.winners, 0)),
                     fmt::arg("next", next_html(report.next)),
                     fmt::arg("charts_title",
                              report.points.empty() ? "What would change it" : "Time over message size"),
                     fmt::arg("tables", tables),
                     fmt::arg("facts", pairs_html(report.facts, "<div><dt>", "</dt><dd>", "</dd></div>")),
                     fmt::arg("files", pairs_html(report.files, "<details><summary>",
                                                  "</summary><pre tabindex=\"0\">", "</pre></details>")),
                     fmt::arg("points", json_for_page(chart_data(report.points, report.curves))),
                     fmt::arg("records", records_element(report.records)));
}

}  // namespace ringside::plots
