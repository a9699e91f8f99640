#include "study/inputs/known.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison/point_sentences.hpp"
#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "import/import.hpp"
#include "scenario/machine/named_machine.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/knowledge.hpp"

namespace ringside::study {
namespace {

bool is_nccl_native(const Point& point) {
  return point.key.algorithm == kNative && point.predicted && point.predicted->fidelity == Fidelity::nccl;
}

std::vector<Known> known_in_file(const std::string& file) {
  std::vector<Known> known;
  for (const Point& point : merge(import_measurements(file).series).points) {
    const bool counts = point.key.ranks > 1 && point.key.bytes.value > 0 && point.measured &&
                        point.measured->outcome == Outcome::ok;
    if (counts) {
      known.push_back(known_time(point.key, point.measured->seconds));
    }
  }
  if (known.empty()) {
    throw bad_key("known {}: holds no time of a collective", file);
  }
  return known;
}

std::vector<Known> known_of(const Machine& machine, const std::string& text) {
  if (std::filesystem::is_regular_file(text)) {
    return known_in_file(text);
  }
  if (text.find('{') == std::string::npos) {
    throw bad_key(
        "known {}: neither a file nor an entry such as "
        "'{{native: {{ranks: 4, bytes: 1 GiB, seconds: 95 ms}}}}' or "
        "'{{p2p: {{bandwidth: 12 GB/s}}}}'",
        text);
  }
  Machine alone = machine;
  alone.known.clear();
  const KeyOverride known{.key = "known", .value = fmt::format("[{}]", text), .origin = "known " + text};
  return value_of_key([&] { return with_value(alone, known).known; });
}

bool is_described(const Point& point) {
  return point.predicted && point.key.ranks > 1 &&
         (point.predicted->source == CostSource::spec ||
          point.predicted->source == CostSource::spec_plus_known);
}

/// Why none of `known` bears on any of the points; empty where one does.
std::string why_all_are_useless(const std::vector<Known>& known, const std::vector<Point>& points,
                                const Machine& machine, NativeModel model) {
  std::string first = machine.gpu ? "no prediction here is made from the description of a machine's links"
                                  : "the machine names no `gpu`, and only predictions for GPUs take it";
  for (const Point& point : points) {
    for (const Known& each : known) {
      if (!is_described(point)) {
        continue;
      }
      std::string why = why_useless(machine, each, point.key, model);
      if (why.empty()) {
        return why;
      }
      first = std::move(why);
    }
  }
  return first;
}

/// As somebody would write it.
std::string text_of(const Known& known) {
  if (!known.algorithm) {
    return "p2p";
  }
  const std::string what = known.collective == Collective::all_reduce
                               ? *known.algorithm
                               : fmt::format("{} by {}", name(known.collective), *known.algorithm);
  return known.ranks && known.bytes
             ? fmt::format("{} of {} on {} ranks", what, format(*known.bytes), *known.ranks)
             : what;
}

void extend(std::vector<SizeRange>& ranges, const Point& point) {
  const std::string reason = limit_sentences(point.predicted->limits);
  if (ranges.empty() || ranges.back().ranks != point.key.ranks || ranges.back().reason != reason) {
    ranges.push_back(
        {.ranks = point.key.ranks, .first = point.key.bytes, .last = point.key.bytes, .reason = reason});
  }
  ranges.back().last = point.key.bytes;
}

}  // namespace

Known known_time(const PointKey& key, Seconds seconds) {
  return {.collective = key.collective,
          .algorithm = key.algorithm,
          .ranks = key.ranks,
          .bytes = key.bytes,
          .seconds = seconds};
}

Machine with_known(Machine machine, const NativeChoices& choices) {
  for (const std::string& text : choices.known) {
    const std::vector<Known> more = known_of(machine, text);
    machine.known.insert(machine.known.end(), more.begin(), more.end());
  }
  return machine;
}

void require_use_of_known(const std::vector<Point>& points, const Machine& machine,
                          const NativeChoices& choices) {
  std::size_t from_choices = 0;
  for (const std::string& text : choices.known) {
    const std::vector<Known> entries = known_of(machine, text);
    from_choices += entries.size();
    const std::string why = why_all_are_useless(entries, points, machine, choices.model);
    if (!why.empty()) {
      throw bad_key("known {}: affects none of this scenario's predictions: {}", text, why);
    }
  }
  for (std::size_t i = 0; i + from_choices < machine.known.size(); ++i) {
    const Known& entry = machine.known[i];
    const std::string why = why_all_are_useless({entry}, points, machine, choices.model);
    if (!why.empty()) {
      throw bad_input("{}: known: {}: affects none of this scenario's predictions: {}",
                      machine.origin.empty() ? fmt::format("machine '{}'", machine.name) : machine.origin,
                      text_of(entry), why);
    }
  }
}

NativeFindings native_findings(const std::vector<Point>& points, const Machine& machine) {
  NativeFindings findings;
  std::ranges::copy_if(points, std::back_inserter(findings.points), is_nccl_native);
  for (const Point& point : findings.points) {
    extend(findings.reasons, point);
  }
  findings.ours = std::ranges::any_of(findings.points,
                                      [](const Point& point) { return point.predicted->low.has_value(); });
  if (!findings.ours) {
    return findings;
  }
  const std::vector<PointKey> keys = mapped(points, &Point::key);
  findings.advice = nccl_advice(machine, keys);
  return findings;
}

}  // namespace ringside::study
