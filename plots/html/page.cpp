#include "plots/html/page.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "plots/html/assets.hpp"
#include "results/codec/page_records.hpp"

namespace ringside::plots {
namespace {

constexpr std::string_view kChartLicence =
    R"(Chart.js is embedded in this page. Copyright (c) 2014-2022 Chart.js Contributors, MIT License; with
@kurkle/color, copyright (c) 2022 Jukka Kurkela, MIT License.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN
NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY,
WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

The script and the style of this page are ringside's, Apache License 2.0.)";

unsigned hex_digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

/// `'sha256-…'` of a content security policy: the digest in base 64 (RFC 4648).
std::string csp_hash(const Asset& asset) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string base64;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : asset.sha256) {
    bits = (bits << 4U) | hex_digit(c);
    held += 4;
    if (held >= 6) {
      held -= 6;
      base64 += kDigits[(bits >> static_cast<unsigned>(held)) & 63U];
    }
  }
  if (held > 0) {
    base64 += kDigits[(bits << static_cast<unsigned>(6 - held)) & 63U];
  }
  base64.append((4 - base64.size() % 4) % 4, '=');
  return "'sha256-" + base64 + "'";
}

bool stands_right(const std::string& header) { return header.find('>') < 2; }

/// Without the marks of a table on a terminal.
std::string_view plain_title(std::string_view header) {
  return header.substr(std::min(header.find_first_not_of("?>"), header.size()));
}

std::string table_html(const HtmlTable& table, std::size_t number) {
  std::string html = fmt::format(
      "<section class=\"table\" aria-labelledby=\"t{0}\">\n<h2 id=\"t{0}\">{1}</h2>\n{2}"
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"t{0}\">\n<table>\n<thead><tr>",
      number, escaped(table.title),
      table.explained.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(table.explained)));
  for (const std::string& header : table.header) {
    html += fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>",
                        stands_right(header) ? " class=\"right\"" : "", escaped(plain_title(header)));
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
  return html +
         "</tbody>\n</table>\n</div>\n<button type=\"button\" class=\"copy\">Copy as CSV</button>\n"
         "</section>\n";
}

std::string verdict_html(const HtmlReport& report) {
  std::string html = "<section aria-label=\"Verdict\">\n";
  for (const std::string& sentence : report.sentences) {
    const bool first = &sentence == &report.sentences.front();
    html += fmt::format("<p{}>{}</p>\n", first ? " class=\"verdict\"" : "", escaped(sentence));
  }
  for (const std::string& note : report.notes) {
    html += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  }
  return html + "</section>\n";
}

std::string facts_html(const HtmlReport& report) {
  std::string html =
      "<section aria-labelledby=\"made\">\n<h2 id=\"made\">How the numbers were made</h2>\n<dl>\n";
  for (const auto& [name, text] : report.facts) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(text));
  }
  html += "</dl>\n";
  for (const auto& [name, text] : report.files) {
    html += fmt::format("<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n",
                        escaped(name), escaped(text));
  }
  return html + "</section>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : with_directions_spelt(valid_utf8(std::string(text)))) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        const auto byte = static_cast<unsigned char>(c);
        const bool control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
        control ? html += fmt::format("\\u{:04x}", byte) : html += c;
    }
  }
  return html;
}

std::string why_no_report() {
  return kChartLibrary.text.empty()
             ? "reports need Chart.js, which was missing when ringside was built; install it (Debian: "
               "libjs-chart.js), configure and build again"
             : "";
}

std::string report_html(const HtmlReport& report) {
  if (kChartLibrary.text.empty()) {
    throw Error(ErrorKind::environment, why_no_report());
  }
  std::string html(kPageStart);
  html += fmt::format(
      "<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {} {}; "
      "style-src {}; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{} – ringside</title>\n<link rel=\"icon\" href=\"data:,\">\n",
      csp_hash(kChartLibrary), csp_hash(kReportScript), csp_hash(kReportStyle), escaped(report.title));
  html += fmt::format("<style>{}</style>\n</head>\n<body>\n<main>\n", kReportStyle.text);
  html += fmt::format("<header>\n<h1>{}</h1>\n<p class=\"note\">{}</p>\n</header>\n", escaped(report.title),
                      escaped(report.subtitle));
  html += verdict_html(report);
  if (!report.winners.rows.empty()) {
    html += table_html(report.winners, 0);
  }
  html +=
      "<section id=\"charts\" aria-labelledby=\"time\" hidden>\n<h2 id=\"time\">Time over message size</h2>\n"
      "<p class=\"note\">A line is a prediction, with its 90 % interval. A mark is a measurement, with the "
      "95 % "
      "interval of its median. All numbers: <a href=\"#t1\">the table "
      "below</a>.</p>\n</section>\n<noscript><p class=\"note\">The charts need JavaScript; the tables do "
      "not.</p></noscript>\n";
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    html += table_html(report.tables[i], i + 1);
  }
  html += facts_html(report);
  html += fmt::format(
      "<footer>\n<details><summary>Licences</summary><pre tabindex=\"0\">{}</pre></details>\n"
      "</footer>\n</main>\n<div id=\"live\" aria-live=\"polite\"></div>\n",
      escaped(kChartLicence));
  html += fmt::format("<script type=\"application/json\" id=\"points\">{}</script>\n",
                      json_for_page(chart_data(report.points)));
  html += records_element(report.records);
  html += fmt::format("<script>{}</script>\n<script>{}</script>\n</body>\n</html>\n", kChartLibrary.text,
                      kReportScript.text);
  return html;
}

}  // namespace ringside::plots
