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

/// Mean errors of both on one system.
struct Errors {
  std::string_view part;
  double ours = 0;
  double line = 0;
};

std::string_view part_of(const EvaluatedSystem& system) {
  switch (system.kind) {
    case NcclKind::nvlink:
      return "one node, NVLink or xGMI";
    case NcclKind::rdma:
      return "several nodes, InfiniBand or RoCE, two or more GPUs each";
    case NcclKind::other_network:
      return "several nodes, the rest";
    case NcclKind::pcie_peer:
    case NcclKind::pcie_host:
      break;
  }
  return "one node, PCIe";
}

std::vector<Errors> errors_of(const AccuracyReport& report) {
  std::vector<Errors> errors;
  for (const EvaluatedSystem& system : report.systems) {
    const Accuracy* ours = find(system.records, {.model = EvaluatedModel::ringside_every4});
    const Accuracy* line = find(system.records, {.model = EvaluatedModel::line_every4});
    if (!system.excluded && ours != nullptr && line != nullptr) {
      errors.push_back({.part = part_of(system), .ours = ours->mape, .line = line->mape});
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
      "a "
      "point on |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
  constexpr std::array<std::string_view, 4> kParts = {
      "one node, NVLink or xGMI", "several nodes, InfiniBand or RoCE, two or more GPUs each",
      "several nodes, the rest", "one node, PCIe"};
  const auto add = [&](std::string_view name, bool all) {
    std::vector<double> ours;
    std::vector<double> line;
    int not_worse = 0;
    int clearly_worse = 0;
    constexpr double kPoint = 0.01;
    for (const Errors& error : errors) {
      if (all || error.part == name) {
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
  for (const std::string_view part : kParts) {
    add(part, false);
  }
  add("all", true);
  return text;
}

}  // namespace ringside
