#include "cli/reports/next_steps.hpp"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "real/backend/backends.hpp"
#include "schedule/registry.hpp"
#include "study/ranks/launch.hpp"

namespace ringside::cli {
namespace {

constexpr std::size_t kMostSteps = 4;
/// Median errors above and shares of times in their 90 % intervals below these are not what good probes give.
constexpr double kGoodError = 0.2;
constexpr double kGoodCoverage = 0.6;
/// How many times as long is tried where a time was too short.
constexpr double kLonger = 4;

/// A sentence and, indented below it, a command where there is one; empty where there is nothing to say.
using Step = std::vector<std::string>;

/// What the rules below look at.
struct Found {
  const study::PointStudy& study;
  const RunHeader& header;
  bool ended;
  std::string file;  ///< The scenario's file as it was typed: with `#NAME` where it holds several.
  bool measures;     ///< Whether what was typed measures.
  std::vector<Cell> cells;
};

bool has_time(const Point& point) { return point.measured && point.measured->outcome == Outcome::ok; }

bool has_failed(const Point& point) {
  return point.measured &&
         (point.measured->outcome == Outcome::failed || point.measured->outcome == Outcome::wrong_result);
}

bool shares_gpu(const Point& point) { return point.measured && point.measured->shared_gpu; }

/// What was typed, without a flag and the value behind it.
std::string without(const std::string& command, const std::string& flag,
                    const std::string& value = R"(([= ]('[^']*'|[^' -]\S*))?)") {
  return std::regex_replace(command, std::regex(" " + flag + value + "(?= |$)"), "");
}

std::string without_resume(const std::string& command) { return without(command, "--resume", ""); }

/// What was typed, with several times as long for a flag as there was.
std::string with_longer(const std::string& command, const std::string& flag, Seconds before) {
  std::smatch found;
  if (std::regex_search(command, found, std::regex(flag + "[= ]'?([0-9.]+ ?[a-z]+)"))) {
    before = parse_seconds(found[1].str());
  }
  return fmt::format("  {} {} '{}'", without_resume(without(command, flag)), flag,
                     format(Seconds{kLonger * before.value}));
}

/// A run that was stopped, and points that failed.
Step go_on(const Found& found) {
  const auto failed = std::ranges::count_if(found.study.points, has_failed);
  if (!found.measures || (found.ended && failed == 0)) {
    return {};
  }
  return {found.ended ? fmt::format("{} failed. Remove the cause that is said above, and measure them again:",
                                    count_of(failed, "point"))
                      : fmt::format("The run was stopped before its end, with {} measured. Go on with it:",
                                    count_of(std::ranges::count_if(found.study.points, has_time), "point")),
          "  " + without_resume(found.header.command) + " --resume"};
}

Step shared_gpu(const Found& found) {
  if (std::ranges::none_of(found.study.points, shares_gpu)) {
    return {};
  }
  return {fmt::format(
              "Ranks shared GPUs, so no time says anything about links. Run it on a machine with {} GPUs:",
              found.cells.back().question.ranks),
          "  " + without(found.header.command, "--ranks-per-gpu")};
}

/// Whether the fastest two of ours were measured, and their scatter hides which one wins.
bool undecided(const Cell& cell) {
  const std::vector<Contender> order = ranking(cell, Side::measured);
  return order.size() > 1 && order[1].timing.typical > (1 + kWorthHaving) * order[0].timing.typical &&
         !clearly_faster(cell, order[0].algorithm, order[1].algorithm, Side::measured, kWorthHaving);
}

bool disturbed(const Machine& machine) { return machine.calibrated && machine.calibrated->disturbance; }

Step quieter_or_longer(const Found& found) {
  const auto first = std::ranges::find_if(found.cells, undecided);
  const bool unclear = first != found.cells.end();
  const std::string where =
      !unclear
          ? ""
          : fmt::format("At {} of {} the fastest two cannot be told apart (first {} on {} ranks). ",
                        std::ranges::count_if(found.cells, undecided), count_of(found.cells.size(), "size"),
                        format(first->question.bytes), first->question.ranks);
  if (disturbed(found.study.machine)) {
    return {where + "Something else ran on this machine. See what, end it, and run this again:",
            "  ringside doctor"};
  }
  if (unclear && found.measures) {
    return {where + "Measure each for longer:",
            with_longer(found.header.command, "--time-per-point", study::LaunchChoices{}.time_per_point)};
  }
  return {};
}

/// Predictions that were bad are made better by what they came from.
Step better_predictions(const Found& found) {
  const study::PointStudy& study = found.study;
  const std::vector<Accuracy>& accuracy = study.conclusions.accuracy;
  const double error = accuracy.empty() ? 0 : accuracy.back().median_abs_error;
  const double covered = accuracy.empty() ? 1 : accuracy.back().coverage.value_or(1);
  if (error <= kGoodError && covered >= kGoodCoverage) {
    return {};
  }
  const std::string why =
      error > kGoodError
          ? fmt::format("Predictions were off by {} in the median. ", percent(error))
          : fmt::format("Only {} of the times lie in their predicted 90 % interval. ", percent(covered));
  const Point& worst = *worst_prediction(study.points);
  const bool calibrated = worst.predicted->source == CostSource::calibrated;
  if (calibrated && found.header.command.find(" compare ") != std::string::npos &&
      !disturbed(study.machine)) {
    return {why + "Probe this machine for longer:",
            with_longer(found.header.command, "--calibrate-time", study::LaunchChoices{}.calibrate_time)};
  }
  if (calibrated || found.header.scenario.text.empty()) {
    return {};
  }
  if (!study.machine.gpu) {
    return {why +
                "The description of the machine does not fit it. Probe it there, and predict from the file "
                "that this writes:",
            "  ringside calibrate"};
  }
  return {why + "Tell what was measured, and the rest is predicted anew from it:",
          fmt::format("  ringside predict {} --known '{{{}: {{ranks: {}, bytes: {}, seconds: {}}}}}'",
                      found.file, worst.key.algorithm, worst.key.ranks, format(worst.key.bytes),
                      format(worst.measured->seconds))};
}

/// What to do with the fastest, on most ranks at the largest size.
Step use(const Found& found) {
  const auto decided = std::find_if(found.cells.rbegin(), found.cells.rend(), [](const Cell& cell) {
    return cell.question.ranks > 1 && !ranking(cell, Side::measured).empty();
  });
  if (decided == found.cells.rend()) {
    return {};
  }
  const auto& [question, points] = *decided;
  const std::vector<Contender> order = ranking(*decided, Side::measured);
  const std::string& best = order.front().algorithm;
  const std::string where = fmt::format("at {} on {} ranks", format(question.bytes), question.ranks);
  const auto beats = [&](std::string_view other) {
    return clearly_faster(*decided, best, other, Side::measured, kWorthHaving);
  };
  const auto timed = std::ranges::find_if(points, [](const Point* point) { return has_time(*point); });
  const Backend backend = (*timed)->measured->backend;
  const std::string_view library = library_of(backend);
  const bool native = timing(*decided, kNative, Side::measured).has_value();
  if (native && library.empty()) {
    return {};  // Ours through memory, which no training calls.
  }
  const std::string own = fmt::format("{}'s own {}", library, name(question.collective));
  if (native && !beats(kNative)) {
    return {fmt::format("Train with {}: {} none of ours is clearly faster.", own, where)};
  }
  if (!native && !library.empty() && found.measures) {
    return {fmt::format("{} was not measured. Add `native` to `algorithms` in {}, and run it again.", own,
                        found.file)};
  }
  if (question.collective != Collective::all_reduce || order.size() < 2 || !beats(order[1].algorithm)) {
    return {};
  }
  if (native && registered(backend).software == &Software::mpi) {
    return {fmt::format("{} beats {}'s own choice {}. Write rules by which it takes the fastest:", best,
                        library, where),
            fmt::format("  ringside tune {} --machine {}", found.file,
                        (found.study.file.parent_path() / "machine.yaml").string())};
  }
  return {fmt::format("{} wins {}. See what it gains in steps of training, with buckets of gradients:", best,
                      where),
          fmt::format("  build/release/examples/ddp --ranks {} --algorithm {}{}", question.ranks, best,
                      registered(backend).on_gpus ? " --backend nccl" : "")};
}

/// What was only predicted: the measurement that says most, where one does.
Step measure(const Found& found) {
  const study::NativeFindings& native = found.study.native;
  if (found.header.scenario.text.empty() || !native.advice || !native.ours) {
    return {};
  }
  const NcclAdvice& advice = *native.advice;
  Step step = {fmt::format("Measure this next: {} (narrows the interval from ×{:.1f} to ×{:.1f})",
                           advice.what, advice.width_before, advice.width_after),
               fmt::format("  {}\n  then --known '{}'", advice.command, advice.known)};
  if (!advice.question.empty()) {
    step.push_back(
        fmt::format("Open question about the transport: {} Answer with {}.", advice.question, advice.answer));
  }
  return step;
}

}  // namespace

std::vector<std::string> next_steps(const study::PointStudy& study, const RunHeader& header, bool ended,
                                    bool general) {
  if (study.points.empty()) {
    return {};
  }
  Found found = {.study = study,
                 .header = header,
                 .ended = ended,
                 .file = header.scenario.file,
                 .measures = std::regex_search(header.command, std::regex(" (measure|compare) ")),
                 .cells = cells(study.points)};
  const std::size_t start = header.command.find(found.file + '#');
  if (start != std::string::npos && !found.file.empty()) {
    found.file = header.command.substr(start, header.command.find_first_of(" '", start) - start);
  }
  using Rules = std::vector<Step (*)(const Found&)>;
  const Rules rules = std::ranges::any_of(study.points, has_time)
                          ? Rules{go_on, shared_gpu, quieter_or_longer, better_predictions, use}
                          : Rules{go_on, measure};
  std::vector<std::string> lines;
  std::size_t steps = 0;
  for (const auto rule : rules) {
    if (const Step step = rule(found); !step.empty() && ++steps <= kMostSteps) {
      lines.insert(lines.end(), step.begin(), step.end());
    }
  }
  if (general && lines.empty() && !header.scenario.text.empty() &&
      std::ranges::none_of(study.points, [](const Point& point) { return point.measured.has_value(); })) {
    return {"Nothing was measured yet. On the machine itself, each time beside its prediction:",
            "  ringside compare " + found.file};
  }
  return lines;
}

}  // namespace ringside::cli
