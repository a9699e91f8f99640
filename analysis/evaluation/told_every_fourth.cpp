#include "analysis/evaluation/told_every_fourth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "common/statistics.hpp"

namespace ringside {

namespace {

constexpr std::size_t kStep = 4;

double log2_bytes(const Point& point) { return std::log2(static_cast<double>(point.key.bytes.value)); }

bool smaller(const Point& a, const Point& b) { return a.key.bytes < b.key.bytes; }

/// Systems that the page reports together.
struct SystemClass {
  std::string_view name;
  std::array<NcclKind, 2> kinds;

  bool holds(NcclKind kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }
};

constexpr std::array<SystemClass, 4> kClasses = {{
    {"one node, NVLink or xGMI", {NcclKind::nvlink, NcclKind::nvlink}},
    {"several nodes, InfiniBand or RoCE, two or more GPUs each", {NcclKind::rdma, NcclKind::rdma}},
    {"several nodes, the rest", {NcclKind::other_network, NcclKind::other_network}},
    {"one node, PCIe", {NcclKind::pcie_peer, NcclKind::pcie_host}},
}};

/// Mean errors of both on one system.
struct Errors {
  NcclKind kind;
  double ours = 0;
  double line = 0;
};

std::vector<Errors> errors_of(const AccuracyReport& report) {
  std::vector<Errors> errors;
  for (const EvaluatedSystem& system : report.systems) {
    const Accuracy* ours = find(system.records, {.model = EvaluatedModel::ringside_every4});
    const Accuracy* line = find(system.records, {.model = EvaluatedModel::line_every4});
    if (!system.excluded && ours != nullptr && line != nullptr) {
      errors.push_back({.kind = system.kind, .ours = ours->mape, .line = line->mape});
    }
  }
  return errors;
}

}  // namespace

std::vector<Point> every_fourth(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), smaller);
  std::vector<Point> told;
  if (points.size() < 2 * kStep + 1 || points.front().key.collective != Collective::all_reduce) {
    return told;
  }
  for (std::size_t i = 0; i < points.size(); i += kStep) {
    told.push_back(points[i]);
  }
  if (told.back().key != points.back().key) {
    told.push_back(points.back());
  }
  return told;
}

std::vector<EvaluatedPoint> on_lines_between(const std::vector<Point>& points,
                                             const std::vector<Point>& told) {
  std::vector<EvaluatedPoint> result;
  for (const Point& point : points) {
    const auto above = std::upper_bound(told.begin(), told.end(), point, smaller);
    if (above == told.begin() || above == told.end() || std::prev(above)->key.bytes == point.key.bytes) {
      continue;
    }
    const Point& below = *std::prev(above);
    const double share = (log2_bytes(point) - log2_bytes(below)) / (log2_bytes(*above) - log2_bytes(below));
    result.push_back({.model = EvaluatedModel::line_every4,
                      .band = size_band(static_cast<double>(point.key.bytes.value)),
                      .ranks = point.key.ranks,
                      .bytes = point.key.bytes,
                      .measured = point.measured->seconds.value,
                      .predicted = std::exp(std::lerp(std::log(below.measured->seconds.value),
                                                      std::log(above->measured->seconds.value), share)),
                      .interval = {},
                      .limits = {}});
  }
  return result;
}

std::string told_every_fourth(const AccuracyReport& report) {
  const std::vector<Errors> errors = errors_of(report);
  std::string text =
      "| class | systems | told every fourth row, % | straight lines, % | not worse on | worse by more than "
      "a point on |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
  const auto add = [&](std::string_view name, const auto& holds) {
    std::vector<double> ours;
    std::vector<double> line;
    int not_worse = 0;
    int clearly_worse = 0;
    constexpr double kPoint = 0.01;
    for (const Errors& error : errors) {
      if (holds(error.kind)) {
        ours.push_back(error.ours);
        line.push_back(error.line);
        not_worse += error.ours <= error.line ? 1 : 0;
        clearly_worse += error.ours > error.line + kPoint ? 1 : 0;
      }
    }
    if (!ours.empty()) {
      text +=
          fmt::format("| {} | {} | {:.1f} | {:.1f} | {} | {} |\n", name, ours.size(),
                      100 * summarize(ours).median, 100 * summarize(line).median, not_worse, clearly_worse);
    }
  };
  for (const SystemClass& one : kClasses) {
    add(one.name, [&](NcclKind kind) { return one.holds(kind); });
  }
  add("all", [](NcclKind) { return true; });
  return text;
}

}  // namespace ringside
