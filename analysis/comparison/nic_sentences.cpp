#include "analysis/comparison/nic_sentences.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

/// The use of NICs by one algorithm on nodes with so many NICs.
struct NicRange {
  std::string algorithm;
  int of = 0;
  int least = 0;
  int most = 0;
};

/// In the order of their first prediction.
std::vector<NicRange> ranges_of(std::span<const AlgorithmNics> predicted) {
  std::vector<NicRange> ranges;
  for (const AlgorithmNics& each : predicted) {
    const auto known = std::find_if(ranges.begin(), ranges.end(), [&](const NicRange& range) {
      return range.algorithm == each.algorithm && range.of == each.nics.of;
    });
    if (known == ranges.end()) {
      ranges.push_back(
          {.algorithm = each.algorithm, .of = each.nics.of, .least = each.nics.used, .most = each.nics.used});
    } else {
      known->least = std::min(known->least, each.nics.used);
      known->most = std::max(known->most, each.nics.used);
    }
  }
  return ranges;
}

}  // namespace

std::vector<std::string> nic_sentences(std::span<const AlgorithmNics> predicted) {
  const std::vector<NicRange> ranges = ranges_of(predicted);
  std::map<std::tuple<int, int, int>, std::vector<std::string>> by_use;
  for (const NicRange& range : ranges) {
    if (range.least < range.of) {
      by_use[{range.of, range.least, range.most}].push_back(range.algorithm);
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [use, algorithms] : by_use) {
    const auto& [of, least, most] = use;
    const bool beside_native = std::any_of(ranges.begin(), ranges.end(), [nics = of](const NicRange& range) {
      return range.algorithm == kNative && range.of == nics && range.least == nics;
    });
    sentences.push_back(fmt::format(
        "{} {} {} of the {} NICs of a node{}", fmt::join(algorithms, ", "),
        algorithms.size() == 1 ? "uses" : "use", consecutive("", least, most, " to "), of,
        beside_native
            ? fmt::format(
                  ", native all {}: NCCL runs several rings or trees at once that leave a node through "
                  "different NICs",
                  of)
            : ""));
  }
  return sentences;
}

}  // namespace ringside
