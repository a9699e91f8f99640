#include "analysis/comparison/class_sentences.hpp"

#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison/limit_sentences.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

std::string sentence(const Point& point) {
  const Prediction& predicted = *point.predicted;
  if (predicted.no_classes) {
    return fmt::format("{}: all {} ranks were simulated, since {}", point.key.algorithm, point.key.ranks,
                       *predicted.no_classes);
  }
  std::string text =
      fmt::format("{}: {} simulated as {}, alike in what they do and when", point.key.algorithm,
                  count_of(point.key.ranks, "rank"), count_of(*predicted.rank_classes, "class", "classes"));
  if (!predicted.limits.empty()) {
    text += "; the busiest link: " + limit_sentence(predicted.limits.front());
  }
  return text;
}

}  // namespace

std::vector<std::string> class_sentences(std::span<const Point> points) {
  std::map<std::string, const Point*> largest;
  std::vector<std::string> order;
  for (const Point& point : points) {
    if (!point.predicted || (!point.predicted->rank_classes && !point.predicted->no_classes)) {
      continue;
    }
    const Point*& known = largest[point.key.algorithm];
    if (known == nullptr) {
      order.push_back(point.key.algorithm);
    }
    if (known == nullptr || std::tuple(point.key.ranks, point.key.bytes.value) >
                                std::tuple(known->key.ranks, known->key.bytes.value)) {
      known = &point;
    }
  }
  std::vector<std::string> sentences;
  for (const std::string& algorithm : order) {
    sentences.push_back(sentence(*largest[algorithm]));
  }
  return sentences;
}

}  // namespace ringside
