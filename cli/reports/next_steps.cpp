#include "cli/reports/next_steps.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "common/text.hpp"
#include "real/backend/backends.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

/// Median errors above and shares of times in their 90 % intervals below these are not what good probes give.
constexpr double kGoodError = 0.2;
constexpr double kGoodCoverage = 0.6;
/// A sentence and, indented below it, a command where there is one; empty where there is nothing to say.
using Step = std::vector<std::string>;

/// What the rules below look at.
struct Found {
  const study::PointStudy& study;
  std::string_view typed;
  std::string file;  ///< The scenario's file as it was typed: with `#NAME` where it holds several.
  bool measures;     ///< Whether what was typed measures.
  std::vector<Cell> cells;
};

bool has_time(const Point& point) { return point.measured && point.measured->outcome == Outcome::ok; }

/// Whether the fastest two of ours were measured, and their scatter hides which one wins.
bool undecided(const Cell& cell) {
  const std::vector<Contender> order = ranking(cell, Side::measured);
  return order.size() > 1 && order[1].timing.typical > (1 + kWorthHaving) * order[0].timing.typical &&
         !clearly_faster(cell, order[0].algorithm, order[1].algorithm, Side::measured, kWorthHaving);
}

bool disturbed(const Machine& machine) { return machine.calibrated && machine.calibrated->disturbance; }

Step quieter_or_longer(const Found& found) {
  if (disturbed(found.study.machine)) {
    return {"End what else runs on this machine, and run this again. To see it:", "  ringside doctor"};
  }
  if (found.measures && std::ranges::any_of(found.cells, undecided)) {
    return {
        "At some sizes the fastest two cannot be told apart. Measure each for longer (--time-per-point)."};
  }
  return {};
}

/// Predictions that were bad are made better by what they came from.
Step better_predictions(const Found& found) {
  const study::PointStudy& study = found.study;
  const std::vector<Accuracy>& accuracy = study.conclusions.accuracy;
  if (found.file.empty() || accuracy.empty() ||
      (accuracy.back().median_abs_error <= kGoodError &&
       accuracy.back().coverage.value_or(1) >= kGoodCoverage)) {
    return {};
  }
  const Point& worst = *worst_prediction(study.points);
  if (worst.predicted->source == CostSource::calibrated) {
    return contains(found.typed, " compare ") && !disturbed(study.machine)
               ? Step{"For better predictions, probe this machine for longer (--calibrate-time)."}
               : Step{};
  }
  if (!study.machine.gpu) {
    return {
        "The description of the machine does not fit it. Probe it there, and predict from the file that "
        "this writes:",
        "  ringside calibrate"};
  }
  return {"Tell what was measured, and the rest is predicted anew from it:",
          fmt::format("  ringside predict {} --known '{{{}: {{ranks: {}, bytes: {}, seconds: {}}}}}'",
                      found.file, worst.key.algorithm, worst.key.ranks, format(worst.key.bytes),
                      format(worst.measured->seconds))};
}

/// What to do with the fastest, on most ranks at the largest size.
Step use(const Found& found) {
  const auto decided = deciding_cell(found.cells, [](const Cell& cell, Side side) {
    return side == Side::measured && cell.question.ranks > 1 && !ranking(cell, side).empty();
  });
  if (!decided) {
    return {};
  }
  const Cell& cell = *decided->cell;
  const PointKey& question = cell.question;
  const std::vector<Contender> order = ranking(cell, Side::measured);
  const std::string& best = order.front().algorithm;
  const auto beats = [&](std::string_view other) {
    return clearly_faster(cell, best, other, Side::measured, kWorthHaving);
  };
  const auto timed = std::ranges::find_if(cell.points, [](const Point* point) { return has_time(*point); });
  const Backend backend = (*timed)->measured->backend;
  const std::string_view library = library_of(backend);
  const bool native = timing(cell, kNative, Side::measured).has_value();
  if (native && library.empty()) {
    return {};  // Ours through memory, which no training calls.
  }
  const std::string own = fmt::format("{}'s own {}", library, name(question.collective));
  if (native && !beats(kNative)) {
    return {fmt::format("Train with {}: none of ours is clearly faster.", own)};
  }
  if (!native && !library.empty() && found.measures) {
    return {fmt::format("{} was not measured. Add `native` to `algorithms` in {}, and run it again.", own,
                        found.file)};
  }
  if (question.collective != Collective::all_reduce || order.size() < 2 || !beats(order[1].algorithm)) {
    return {};
  }
  if (native && registered(backend).software == &Software::mpi && !found.file.empty()) {
    return {
        fmt::format("{} beats {}'s own choice. Write rules by which it takes the fastest:", best, library),
        fmt::format("  ringside tune {} --machine {}", found.file,
                    (found.study.file.parent_path() / "machine.yaml").string())};
  }
  return {fmt::format("See what {} gains in steps of training, with buckets of gradients:", best),
          fmt::format("  build/release/examples/ddp --ranks {} --algorithm {}{}", question.ranks, best,
                      registered(backend).on_gpus ? " --backend nccl" : "")};
}

/// What was only predicted: the measurement that says most.
Step measure(const NcclAdvice& advice) {
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

std::vector<std::string> next_steps(const study::PointStudy& study, std::string_view typed, bool ended,
                                    bool general) {
  Found found = {.study = study,
                 .typed = typed,
                 .file = study.scenario.file.string(),
                 .measures = contains(typed, " measure ") || contains(typed, " compare "),
                 .cells = cells(study.points)};
  const std::size_t start = typed.find(found.file + '#');
  if (start != std::string::npos && !found.file.empty()) {
    found.file = typed.substr(start, typed.find_first_of(" '", start) - start);
  }
  std::vector<std::string> lines;
  if (found.measures && !ended) {
    lines = {fmt::format("The run was stopped before its end, with {} measured. Go on with it:",
                         count_of(std::ranges::count_if(study.points, has_time), "point")),
             fmt::format("  {}{}", typed, contains(typed, " --resume") ? "" : " --resume")};
  } else if (!found.file.empty() &&
             std::ranges::none_of(study.points, [](const Point& it) { return it.measured.has_value(); })) {
    if (study.native.advice && study.native.ours) {
      return measure(*study.native.advice);
    }
    return general ? Step{"Nothing was measured yet. On the machine itself, each time beside its prediction:",
                          "  ringside compare " + found.file}
                   : Step{};
  }
  for (const auto rule : {quieter_or_longer, better_predictions, use}) {
    std::ranges::copy(rule(found), std::back_inserter(lines));
  }
  return lines;
}

}  // namespace ringside::cli
