#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "lab/nccl/nccl_fit.hpp"
#include "lab/nccl/nccl_held_out_text.hpp"
#include "lab/nccl/nccl_meanings.hpp"
#include "scenario/yaml/yaml_tree.hpp"

namespace ringside {

namespace {

constexpr std::string_view kParametersHeader =
    "# How NCCL's own all_reduce behaves: the numbers of sim/nccl/model.hpp. Written by\n"
    "#     ringside-lab fit configs/evaluation\n"
    "# and compiled into the program. `us` are microseconds, `1` is a ratio; docs/accuracy.md says how well "
    "they do.\n";

constexpr std::string_view kHeldOutHeader =
    "# The numbers of parameters.yaml as they come out without one source at a time, and without one "
    "generation "
    "of GPUs:\n"
    "# what the published accuracy is measured with. Written with it; `parameters` are in its order, "
    "`spreads` "
    "are latency,\n"
    "# bytes, shape, doublings and the quantiles of small, middle and large messages, for each kind.\n";

/// Enough digits for a prediction; nobody computes with them exactly.
std::string digits(double value) { return fmt::format("{:.7g}", value); }

std::string spread_line(const NcclSpread& spread) {
  std::vector<std::string> numbers = {digits(spread.latency), digits(spread.bytes), digits(spread.shape),
                                      digits(spread.doublings)};
  for (const NcclSpread::Quantiles& quantiles : spread.quantiles) {
    numbers.push_back(digits(quantiles.low));
    numbers.push_back(digits(quantiles.high));
  }
  return fmt::format("      - [{}]\n", fmt::join(numbers, ", "));
}

NcclSpread parse_spread(const YamlTree& tree) {
  const std::vector<double> numbers = tree.numbers();
  constexpr std::size_t kDeviations = 4;
  if (numbers.size() != kDeviations + 2 * kNumSizeBands) {
    throw Error(ErrorKind::bad_input, "a spread has the wrong number of numbers");
  }
  NcclSpread spread = {.latency = numbers[0],
                       .bytes = numbers[1],
                       .shape = numbers[2],
                       .doublings = numbers[3],
                       .quantiles = {}};
  for (std::size_t band = 0; band < kNumSizeBands; ++band) {
    spread.quantiles[band] = {.low = numbers[kDeviations + 2 * band],
                              .high = numbers[kDeviations + 2 * band + 1]};
  }
  return spread;
}

NcclStudy::Fold parse_fold(const YamlTree& tree) {
  NcclStudy::Fold fold{.group = tree.at("group").text, .fit = {}};
  const std::vector<double> values = tree.at("parameters").numbers();
  const std::vector<YamlTree>& spreads = tree.at("spreads").list;
  if (values.size() != kNumNcclParameters || spreads.size() != kNumNcclKinds) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} parameters and {} spreads, not {} and {}", fold.group, values.size(),
                            spreads.size(), kNumNcclParameters, kNumNcclKinds));
  }
  std::copy(values.begin(), values.end(), fold.fit.parameters.values.begin());
  std::transform(spreads.begin(), spreads.end(), fold.fit.spreads.begin(), parse_spread);
  return fold;
}

}  // namespace

std::string parameters_file(const NcclStudy& study) {
  return std::string(kParametersHeader) + to_yaml(study.all);
}

std::string held_out_file(const NcclStudy& study) {
  std::string text(kHeldOutHeader);
  text += "folds:\n";
  for (const NcclStudy::Fold& fold : study.held_out) {
    std::vector<std::string> numbers;
    for (const double value : fold.fit.parameters.values) {
      numbers.push_back(digits(value));
    }
    text += fmt::format("  - group: \"{}\"\n    parameters: [{}]\n    spreads:\n", fold.group,
                        fmt::join(numbers, ", "));
    for (const NcclSpread& spread : fold.fit.spreads) {
      text += spread_line(spread);
    }
  }
  return text;
}

std::vector<NcclStudy::Fold> parse_held_out(const std::string& yaml, const std::string& origin) {
  const YamlTree root = parse_yaml_tree(yaml, origin);
  try {
    const std::vector<YamlTree>& trees = root.at("folds").list;
    std::vector<NcclStudy::Fold> folds;
    std::transform(trees.begin(), trees.end(), std::back_inserter(folds), parse_fold);
    return folds;
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: not the fits without one source: {}", origin, error.what()));
  }
}

const std::vector<NcclStudy::Fold>& nccl_held_out() {
  static const std::vector<NcclStudy::Fold> kFolds =
      parse_held_out(std::string(kNcclHeldOutYaml), "configs/nccl/held_out.yaml");
  return kFolds;
}

}  // namespace ringside
