#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/text.hpp"
#include "plots/charts/plan_charts.hpp"
#include "results/point.hpp"

namespace ringside::plots {

/// Without rows it is omitted.
struct HtmlTable {
  std::string title = {};
  TextTable table = {};      ///< The first 4000 rows are shown, and how many there are.
  std::string remarks = {};  ///< Lines below the rows.
};

/// A name, and text of one line or of many; without text it is omitted.
using HtmlFact = std::pair<std::string, std::string>;

/// Shares of 1 over another quantity, of some offers.
struct HtmlCurves {
  std::string title = {};
  std::string x;  ///< Titles of the axes.
  std::string y;
  std::string (*x_text)(double) = nullptr;
  std::vector<Curve> curves = {};
};

/// What report.html says. All of it is text, whatever it looks like.
struct HtmlReport {
  std::string title = {};
  std::string subtitle = {};
  std::vector<std::string> sentences = {};  ///< The verdict, the most important first.
  std::vector<std::string> notes = {};      ///< What was thinned, say.
  std::vector<std::string> next = {};       ///< What to try next; an indented line is a command.
  std::vector<Point> points = {};
  std::vector<HtmlCurves> curves = {};  ///< Charts of what has no points.
  HtmlTable winners = {};               ///< Above the charts.
  std::vector<HtmlTable> tables = {};   ///< Below them; the first has the numbers of the charts.
  std::vector<HtmlFact> facts = {};     ///< How the numbers were made.
  std::vector<HtmlFact> files = {};     ///< The same, as texts of many lines.
  std::string records = {};             ///< JSON Lines.
  /// The page asks its server for what is new, once a second, and has a button that stops the run.
  bool live = false;
};

/// Throws Error{environment} where the build did not find the library of charts.
void require_charts();

/// One file that needs nothing else. Throws as require_charts().
std::string report_html(const HtmlReport& report);

/// What is printable() of the text, as it may stand anywhere in the page, within quotes too.
std::string escaped(std::string_view text);

/// What the script draws: JSON, one panel per collective and number of ranks, and one per family of curves.
std::string chart_data(const std::vector<Point>& points, const std::vector<HtmlCurves>& curves = {});

}  // namespace ringside::plots
