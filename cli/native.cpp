#include "cli/native.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.hpp"
#include "common/error.hpp"
#include "results/import.hpp"
#include "scenario/override.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
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

[[noreturn]] void throw_useless(const NativeFlags& flags, std::string_view why) {
  throw Error(ErrorKind::bad_input,
              fmt::format("--known {}: only predictions of NCCL's own all_reduce use it, and {}",
                          flags.known.front(), why));
}

/// What is known bears on our predictions of NCCL's own all_reduce alone.
void require_use_of_known(const Scenario& scenario, const NativeFlags& flags) {
  const auto& algorithms = scenario.algorithms;
  std::string why;
  if (scenario.collective != Collective::all_reduce) {
    why = fmt::format("this scenario is of {}", name(scenario.collective));
  } else if (std::find(algorithms.begin(), algorithms.end(), kNative) == algorithms.end()) {
    why = fmt::format("this scenario has no `native` among its algorithms ({})", fmt::join(algorithms, ", "));
  } else if (native_model(flags) != NativeModel::ringside) {
    why = fmt::format("--model {} takes nothing of it", flags.model);
  } else {
    return;
  }
  throw_useless(flags, why);
}

/// Sizes one after another of which the same is to be said.
struct Stretch {
  int ranks = 0;
  Bytes first;
  Bytes last;
  std::string reason;
};

void extend(std::vector<Stretch>& stretches, const Point& point) {
  const std::string reason = fmt::format("{}", fmt::join(point.predicted->limits, "; "));
  if (stretches.empty() || stretches.back().ranks != point.key.ranks || stretches.back().reason != reason) {
    stretches.push_back(
        {.ranks = point.key.ranks, .first = point.key.bytes, .last = point.key.bytes, .reason = reason});
  }
  stretches.back().last = point.key.bytes;
}

void print_advice(const std::vector<Point>& points, const Machine& machine) {
  std::vector<PointKey> keys;
  std::transform(points.begin(), points.end(), std::back_inserter(keys),
                 [](const Point& point) { return point.key; });
  if (const std::optional<NcclAdvice> advice = nccl_advice(machine, keys)) {
    print_line();
    print_line(fmt::format("What would narrow this most: {} (intervals of x{:.1f} become x{:.1f})",
                           advice->what, advice->width_before, advice->width_after));
    print_line("  " + advice->command);
    print_line(fmt::format("  then --known '{}'", advice->known));
  }
}

}  // namespace

void add_native_flags(CLI::App& command, NativeFlags& flags) {
  command
      .add_option(
          "--model", flags.model,
          fmt::format("Whose answer for NCCL's own all_reduce: {}", fmt::join(native_model_names(), ", ")))
      ->capture_default_str();
  command
      .add_option(
          "--known", flags.known,
          "What somebody measured on this machine: '{native: {ranks: 4, bytes: 1 GiB, seconds: 95 ms}}', "
          "'{p2p: {bandwidth: 12 GB/s}}', or a file that `ringside import` reads; may be repeated")
      ->allow_extra_args(false);
}

NativeModel native_model(const NativeFlags& flags) {
  const std::optional<NativeModel> model = parse_native_model(flags.model);
  if (!model) {
    throw Error(ErrorKind::bad_input, unknown_name("--model", flags.model, native_model_names()));
  }
  return *model;
}

Machine with_known(Machine machine, const Scenario& scenario, const NativeFlags& flags) {
  if (!flags.known.empty()) {
    require_use_of_known(scenario, flags);
  }
  for (const std::string& text : flags.known) {
    const std::vector<Known> more = known_of(machine, text);
    machine.known.insert(machine.known.end(), more.begin(), more.end());
  }
  return machine;
}

void require_native(const std::vector<Point>& points, const NativeFlags& flags) {
  if (!flags.known.empty() && std::none_of(points.begin(), points.end(), is_nccl_native)) {
    throw_useless(flags, "none of this scenario's `native` is one");
  }
}

void print_native(const std::vector<Point>& points, const Machine& machine) {
  std::vector<std::vector<std::string>> rows;
  std::vector<Stretch> stretches;
  for (const Point& point : points) {
    if (!is_nccl_native(point)) {
      continue;
    }
    const Prediction& prediction = *point.predicted;
    const auto or_nothing = [](const std::optional<Seconds>& time) { return time ? format(*time) : ""; };
    rows.push_back({std::to_string(point.key.ranks), format(point.key.bytes), format(prediction.seconds),
                    or_nothing(prediction.low), or_nothing(prediction.high),
                    std::string(name(prediction.source))});
    extend(stretches, point);
  }
  if (rows.empty()) {
    return;
  }
  // Only ours has an interval, and uses what is known.
  const bool ours = std::any_of(points.begin(), points.end(), [](const Point& point) {
    return is_nccl_native(point) && point.predicted->low.has_value();
  });
  print_line();
  print_line(ours ? "native, with its 90 % interval" : "native; this model has no interval");
  print(table({">ranks", ">size", ">predicted", ">from", ">to", "source"}, rows));
  for (const Stretch& stretch : stretches) {
    const std::string sizes = stretch.first == stretch.last
                                  ? format(stretch.first)
                                  : fmt::format("{} to {}", format(stretch.first), format(stretch.last));
    print_line(fmt::format("{} ranks, {}: {}", stretch.ranks, sizes, stretch.reason));
  }
  if (!ours) {
    return;
  }
  for (const std::string& sentence : unused_known(machine)) {
    print_line(sentence);
  }
  print_line(fmt::format(
      "spec: the words of the machine and data sheets, with parameters fitted to {} published systems; "
      "docs/accuracy.md says how far such predictions are off",
      nccl_fit().systems));
  print_advice(points, machine);
}

}  // namespace ringside::cli
