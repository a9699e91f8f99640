#include "cli/reports/point_tables.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "analysis/comparison/point_sentences.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

std::string measured_text(const Measurement& measured) {
  return measured.outcome == Outcome::ok ? format(measured.seconds) : std::string(name(measured.outcome));
}

bool has_predicted_interval(const Point& point) {
  return point.predicted && point.predicted->low && point.predicted->high;
}

/// `9.1–12.4 ms`, or with both units where they differ.
std::string interval_text(const std::optional<Prediction>& predicted) {
  if (!predicted || !predicted->low || !predicted->high) {
    return std::string(kAbsent);
  }
  const std::string high = format(*predicted->high);
  const std::string unit = high.substr(high.find(' '));
  std::string low = format(*predicted->low);
  if (low.ends_with(unit)) {
    low.resize(low.size() - unit.size());
  }
  return fmt::format("{}–{}", low, high);
}

/// What stands behind a row: that it is the fastest, or its two times differ in execution policy.
std::string remark(const ComparisonRow& row, std::string_view fastest) {
  std::string text(row.fastest ? fastest : "");
  if (policies_differ({.key = row.key, .predicted = row.predicted, .measured = row.measured})) {
    text += text.empty() ? "other policy" : ", other policy";
  }
  return text;
}

std::vector<Column<ComparisonRow>> columns_of(const std::vector<Point>& points, ComparisonLayout layout) {
  const bool narrow = layout == ComparisonLayout::narrow;
  const bool page = layout == ComparisonLayout::page;
  using Row = ComparisonRow;
  const auto any = [&](auto property) { return std::ranges::any_of(points, property); };
  const bool predicted = any([](const Point& point) { return point.predicted.has_value(); });
  const bool measured = any([](const Point& point) { return point.measured.has_value(); });
  const bool native = any([](const Point& point) { return point.key.algorithm == kNative; });
  std::vector<Column<Row>> columns;
  const auto add = [&](bool shown, const char* title, std::function<std::string(const Row&)> cell) {
    if (shown) {
      columns.push_back({title, std::move(cell)});
    }
  };
  const auto first = [=](const Row& r) { return page || r.first_of_group; };
  add(!narrow, ">ranks", [=](const Row& r) { return first(r) ? std::to_string(r.key.ranks) : ""; });
  add(!narrow, ">size", [=](const Row& r) { return first(r) ? format(r.key.bytes) : ""; });
  add(true, "algorithm", [=](const Row& r) { return (narrow ? " " : "") + r.key.algorithm; });
  add(predicted, ">predicted", [](const Row& r) {
    return or_absent(r.predicted, [](const Prediction& p) { return format(p.seconds); });
  });
  add(predicted && any(has_predicted_interval), narrow ? ">90 % int." : ">90 % interval",
      [](const Row& r) { return interval_text(r.predicted); });
  add(predicted && !narrow, page ? ">predicted busbw" : ">busbw",
      [](const Row& r) { return or_absent(r.predicted_busbw); });
  add(measured, ">measured", [](const Row& r) { return or_absent(r.measured, measured_text); });
  add(measured && !narrow, page ? ">measured busbw" : ">busbw",
      [](const Row& r) { return or_absent(r.measured_busbw); });
  add(predicted && measured, narrow ? "?>ratio" : ">predicted/measured", [](const Row& r) {
    return or_absent(r.ratio, [](double ratio) { return fmt::format("{:.2f}", ratio); });
  });
  add(true,
      narrow ? "?"
      : page ? "remark"
             : "",
      [=](const Row& r) { return remark(r, native ? "fastest of ours" : "fastest"); });
  return columns;
}

}  // namespace

TextTable comparison_table(const std::vector<Point>& points, ComparisonLayout layout) {
  const std::vector<Column<ComparisonRow>> columns = columns_of(points, layout);
  TextTable result = table_of(columns, std::vector<ComparisonRow>{});
  const std::vector<ComparisonRow> rows = comparison(points);
  const bool groups = layout != ComparisonLayout::page &&
                      !std::ranges::all_of(rows, [](const ComparisonRow& row) { return row.first_of_group; });
  for (const ComparisonRow& row : rows) {
    if (row.first_of_group && !result.rows.empty() && groups) {
      result.rows.emplace_back(columns.size());
    }
    if (row.first_of_group && layout == ComparisonLayout::narrow) {
      result.rows.emplace_back(columns.size()).front() =
          fmt::format("{} ranks, {}", row.key.ranks, format(row.key.bytes));
    }
    for (std::vector<std::string>& cells = result.rows.emplace_back();
         const Column<ComparisonRow>& column : columns) {
      cells.push_back(column.cell(row));
    }
  }
  return result;
}

TextTable accuracy_table(const std::vector<Accuracy>& records) {
  const auto whole_percent = [](double share) { return percent(share); };
  TextTable result{.header = {"algorithm", "?>points", "?>mean error", ">median error", "?>bias",
                              ">in interval", ">winner right"},
                   .rows = {}};
  for (const Accuracy& record : records) {
    result.rows.push_back({record.algorithm.value_or("all"), std::to_string(record.points),
                           percent(record.mape), percent(record.median_abs_error),
                           signed_percent(record.bias), or_absent(record.coverage, whole_percent),
                           or_absent(record.winner_agreement, whole_percent)});
  }
  return result;
}

TextTable winner_table(const std::vector<Verdict>& verdicts) {
  std::vector<Column<Verdict>> columns = {
      {">ranks", [](const Verdict& verdict) { return std::to_string(verdict.ranks); }},
      {">size", [](const Verdict& verdict) { return format(verdict.bytes); }}};
  const auto add_side = [&](std::string_view side, auto winner, auto speedup) {
    if (std::ranges::none_of(verdicts,
                             [&](const Verdict& verdict) { return (verdict.*speedup).has_value(); })) {
      return;
    }
    columns.push_back({fmt::format("{} winner", side), [=](const Verdict& verdict) {
                         return (verdict.*winner).value_or("no clear winner");
                       }});
    const Verdict& any = verdicts.front();  // All are about the same two.
    columns.push_back(
        {fmt::format(">{} over {}, {}", any.candidate, any.baseline, side), [=](const Verdict& verdict) {
           return or_absent(verdict.*speedup, [](double factor) { return factor_text(factor); });
         }});
  };
  add_side("predicted", &Verdict::predicted_winner, &Verdict::predicted_speedup);
  add_side("measured", &Verdict::measured_winner, &Verdict::measured_speedup);
  return table_of(columns, verdicts);
}

}  // namespace ringside::cli
