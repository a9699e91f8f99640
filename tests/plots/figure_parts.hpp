#pragma once

#include <string>
#include <variant>
#include <vector>

#include "plots/charts/charts.hpp"
#include "plots/drawing/figure.hpp"

/// What tests of charts ask of a figure.
namespace ringside::plots {

inline const ChartContext kContext{
    .title = "ring or naive?", .machine = "8 × RTX 3090", .source = "out/results.jsonl"};

template <typename T>
std::vector<T> elements_of(const Panel& panel) {
  std::vector<T> result;
  for (const Element& element : panel.elements) {
    if (const T* value = std::get_if<T>(&element)) {
      result.push_back(*value);
    }
  }
  return result;
}

/// Panels with axes: all but the first, which holds title, legend and footer.
inline std::vector<Panel> plots_of(const Figure& figure) {
  return {figure.panels.begin() + 1, figure.panels.end()};
}

inline std::vector<std::string> names_of(const std::vector<Figure>& figures) {
  std::vector<std::string> names;
  for (const Figure& figure : figures) {
    names.push_back(figure.name);
  }
  return names;
}

inline std::size_t num_marks(const Panel& panel) {
  std::size_t count = 0;
  for (const Marks& marks : elements_of<Marks>(panel)) {
    count += marks.marks.size();
  }
  return count;
}

inline Point point(const std::string& algorithm, int ranks, std::int64_t bytes, double predicted,
                   double measured) {
  Point result{
      .key = {.algorithm = algorithm, .ranks = ranks, .bytes = {bytes}}, .predicted = {}, .measured = {}};
  result.predicted = Prediction{.seconds = {predicted}, .low = {}, .high = {}};
  result.measured = Measurement{.seconds = {measured}, .low = {measured}, .high = {measured}};
  return result;
}

}  // namespace ringside::plots
