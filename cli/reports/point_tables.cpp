#include "cli/reports/point_tables.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "analysis/comparison/point_sentences.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

template <typename T, typename Format>
std::string or_absent(const std::optional<T>& value, Format format_value) {
  return value ? format_value(*value) : std::string(kAbsent);
}

std::string measured_text(const std::optional<Measurement>& measured) {
  if (!measured) {
    return std::string(kAbsent);
  }
  return measured->outcome == Outcome::ok ? format(measured->seconds) : std::string(name(measured->outcome));
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

/// A column of a comparison: its title, and its cell of a row.
struct ComparisonColumn {
  std::string title;
  std::function<std::string(const ComparisonRow&)> cell;
};

std::vector<ComparisonColumn> columns_of(const std::vector<Point>& points, ComparisonLayout layout) {
  const bool narrow = layout == ComparisonLayout::narrow;
  const bool page = layout == ComparisonLayout::page;
  using Row = ComparisonRow;
  const auto any = [&](auto property) { return std::any_of(points.begin(), points.end(), property); };
  const bool predicted = any([](const Point& point) { return point.predicted.has_value(); });
  const bool measured = any([](const Point& point) { return point.measured.has_value(); });
  const bool native = any([](const Point& point) { return point.key.algorithm == kNative; });
  const auto rate = [](BytesPerSecond value) { return format(value); };
  std::vector<ComparisonColumn> columns;
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
      [=](const Row& r) { return or_absent(r.predicted_busbw, rate); });
  add(measured, ">measured", [](const Row& r) { return measured_text(r.measured); });
  add(measured && !narrow, page ? ">measured busbw" : ">busbw",
      [=](const Row& r) { return or_absent(r.measured_busbw, rate); });
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
  const std::vector<ComparisonColumn> columns = columns_of(points, layout);
  TextTable result;
  for (const ComparisonColumn& column : columns) {
    result.header.push_back(column.title);
  }
  for (const ComparisonRow& row : comparison(points)) {
    if (row.first_of_group && !result.rows.empty() && layout != ComparisonLayout::page) {
      result.rows.emplace_back(columns.size());
    }
    if (row.first_of_group && layout == ComparisonLayout::narrow) {
      result.rows.emplace_back(columns.size()).front() =
          fmt::format("{} ranks, {}", row.key.ranks, format(row.key.bytes));
    }
    for (std::vector<std::string>& cells = result.rows.emplace_back();
         const ComparisonColumn& column : columns) {
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
  const auto any = [&](auto field) {
    return std::any_of(verdicts.begin(), verdicts.end(),
                       [&](const Verdict& verdict) { return (verdict.*field).has_value(); });
  };
  const bool predicted = any(&Verdict::predicted_speedup);
  const bool measured = any(&Verdict::measured_speedup);
  TextTable result{.header = {">ranks", ">size"}, .rows = {}};
  const auto add_columns = [&](bool shown, std::string_view side) {
    if (shown) {
      const Verdict& any_of_them = verdicts.front();  // All are about the same two.
      result.header.push_back(fmt::format("{} winner", side));
      result.header.push_back(
          fmt::format(">{} over {}, {}", any_of_them.candidate, any_of_them.baseline, side));
    }
  };
  add_columns(predicted, "predicted");
  add_columns(measured, "measured");
  const auto speedup = [](double factor) { return factor_text(factor); };
  for (const Verdict& verdict : verdicts) {
    std::vector<std::string>& cells = result.rows.emplace_back();
    cells = {std::to_string(verdict.ranks), format(verdict.bytes)};
    if (predicted) {
      cells.push_back(verdict.predicted_winner.value_or("no clear winner"));
      cells.push_back(or_absent(verdict.predicted_speedup, speedup));
    }
    if (measured) {
      cells.push_back(verdict.measured_winner.value_or("no clear winner"));
      cells.push_back(or_absent(verdict.measured_speedup, speedup));
    }
  }
  return result;
}

}  // namespace ringside::cli
