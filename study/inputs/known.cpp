#include "study/inputs/known.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/limit_sentences.hpp"
#include "common/error.hpp"
#include "import/import.hpp"
#include "scenario/yaml/override.hpp"
#include "schedule/registry.hpp"

namespace ringside::study {
namespace {

bool is_nccl_native(const Point& point) {
  return point.key.algorithm == kNative && point.predicted && point.predicted->fidelity == Fidelity::nccl;
}

std::vector<Known> known_in_file(const std::string& file) {
  std::vector<Known> known;
  for (const Point& point : merge(import_measurements(file).series).points) {
    const bool counts = point.key.algorithm == kNative && point.key.collective == Collective::all_reduce &&
                        point.key.ranks > 1 && point.measured && point.measured->outcome == Outcome::ok;
    if (counts) {
      known.push_back({.algorithm = point.key.algorithm,
                       .ranks = point.key.ranks,
                       .bytes = point.key.bytes,
                       .seconds = point.measured->seconds,
                       .bandwidth = {},
                       .latency = {}});
    }
  }
  if (known.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("--known {}: holds no native all_reduce", file));
  }
  return known;
}

std::vector<Known> known_of(const Machine& machine, const std::string& text) {
  if (std::filesystem::is_regular_file(text)) {
    return known_in_file(text);
  }
  if (text.find('{') == std::string::npos) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--known {}: neither a file nor an entry such as "
                            "'{{native: {{ranks: 4, bytes: 1 GiB, seconds: 95 ms}}}}' or "
                            "'{{p2p: {{bandwidth: 12 GB/s}}}}'",
                            text));
  }
  Machine alone = machine;
  alone.known.clear();
  return with_value(alone, {.key = "known", .value = fmt::format("[{}]", text), .origin = "--known " + text})
      .known;
}

[[noreturn]] void throw_useless(const NativeChoices& choices, std::string_view why) {
  throw Error(ErrorKind::bad_input,
              fmt::format("--known {}: only predictions of NCCL's own all_reduce use it, and {}",
                          choices.known.front(), why));
}

/// What is known bears on our predictions of NCCL's own all_reduce alone.
void require_use_of_known(const Scenario& scenario, const NativeChoices& choices) {
  const auto& algorithms = scenario.algorithms;
  std::string why;
  if (scenario.collective != Collective::all_reduce) {
    why = fmt::format("this scenario is of {}", name(scenario.collective));
  } else if (std::find(algorithms.begin(), algorithms.end(), kNative) == algorithms.end()) {
    why = fmt::format("this scenario has no `native` among its algorithms ({})", fmt::join(algorithms, ", "));
  } else if (choices.model != NativeModel::ringside) {
    why = fmt::format("--model {} takes nothing of it", name(choices.model));
  } else {
    return;
  }
  throw_useless(choices, why);
}

void extend(std::vector<SizeRange>& ranges, const Point& point) {
  const std::string reason = limit_sentences(point.predicted->limits);
  if (ranges.empty() || ranges.back().ranks != point.key.ranks || ranges.back().reason != reason) {
    ranges.push_back(
        {.ranks = point.key.ranks, .first = point.key.bytes, .last = point.key.bytes, .reason = reason});
  }
  ranges.back().last = point.key.bytes;
}

/// Predictions take nothing of a time of one of our own algorithms.
void require_kinds_of_use(const std::vector<Known>& known, const std::string& text) {
  const auto useless = std::find_if(known.begin(), known.end(), [](const Known& each) {
    return each.algorithm && *each.algorithm != kNative;
  });
  if (useless != known.end()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--known {}: no prediction takes a measured {}; give `native` or `p2p`", text,
                            *useless->algorithm));
  }
}

}  // namespace

Machine with_known(Machine machine, const Scenario& scenario, const NativeChoices& choices) {
  if (!choices.known.empty()) {
    require_use_of_known(scenario, choices);
  }
  for (const std::string& text : choices.known) {
    const std::vector<Known> more = known_of(machine, text);
    require_kinds_of_use(more, text);
    machine.known.insert(machine.known.end(), more.begin(), more.end());
  }
  return machine;
}

void require_native(const std::vector<Point>& points, const NativeChoices& choices) {
  if (!choices.known.empty() && std::none_of(points.begin(), points.end(), is_nccl_native)) {
    throw_useless(choices, "none of this scenario's `native` is one");
  }
}

NativeFindings native_findings(const std::vector<Point>& points, const Machine& machine) {
  NativeFindings findings;
  std::copy_if(points.begin(), points.end(), std::back_inserter(findings.points), is_nccl_native);
  for (const Point& point : findings.points) {
    extend(findings.reasons, point);
  }
  findings.ours = std::any_of(findings.points.begin(), findings.points.end(),
                              [](const Point& point) { return point.predicted->low.has_value(); });
  if (!findings.ours) {
    return findings;
  }
  findings.unused = unused_known(machine);
  std::vector<PointKey> keys;
  std::transform(points.begin(), points.end(), std::back_inserter(keys),
                 [](const Point& point) { return point.key; });
  findings.advice = nccl_advice(machine, keys);
  return findings;
}

}  // namespace ringside::study
