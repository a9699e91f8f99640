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

bool has_time(const Point& point) { return point.measured && point.measured->outcome == Outcome::ok; }

/// The scenario's file as it was typed: with `#NAME` where it holds several.
std::string file_of(const RunHeader& header) {
  const std::string& file = header.scenario.file;
  const std::size_t start = header.command.find(file + '#');
  return start == std::string::npos || file.empty()
             ? file
             : header.command.substr(start, header.command.find_first_of(" '", start) - start);
}

/// What was typed, without a flag.
std::string without(const std::string& command, const std::string& flag) {
  return std::regex_replace(command, std::regex(" " + flag + R"(([= ]('[^']*'|[^' -]\S*))?(?= |$))"), "");
}

/// What was typed, with several times as long for a flag as there was.
std::string with_longer(const std::string& command, const std::string& flag, Seconds usual) {
  std::smatch found;
  Seconds before = usual;
  if (std::regex_search(command, found, std::regex(flag + "[= ]'?([0-9.]+ ?[a-z]+)"))) {
    before = parse_seconds(found[1].str());
  }
  return fmt::format("{} {} '{}'", without(without(command, flag), "--resume"), flag,
                     format(Seconds{kLonger * before.value}));
}

/// Cells in which the fastest two of ours were measured, and their scatter hides which one wins.
std::vector<Cell> undecided(const std::vector<Cell>& all) {
  std::vector<Cell> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [](const Cell& cell) {
    const std::vector<Contender> order = ranking(cell, Side::measured);
    return order.size() > 1 && order[1].timing.typical > (1 + kWorthHaving) * order[0].timing.typical &&
           !clearly_faster(cell, order[0].algorithm, order[1].algorithm, Side::measured, kWorthHaving);
  });
  return found;
}

class Steps {
 public:
  Steps(const study::PointStudy& study, const RunHeader& header, bool ended)
      : study_(study), header_(header), cells_(cells(study.points)), ended_(ended) {}

  std::vector<std::string> all() {
    const bool measured = std::any_of(study_.points.begin(), study_.points.end(), has_time);
    go_on();
    if (measured) {
      shared_gpu();
      fewer_ranks();
      quieter_or_longer();
      better_predictions();
      use();
    } else {
      measure();
    }
    return lines_;
  }

 private:
  void say(const std::string& sentence, const std::string& command = {}) {
    if (++steps_ <= kMostSteps) {
      lines_.push_back(sentence);
      if (!command.empty()) {
        lines_.push_back("  " + command);
      }
    }
  }

  bool typed(std::string_view command) const {
    return header_.command.find(fmt::format(" {} ", command)) != std::string::npos;
  }
  bool measures() const { return typed("measure") || typed("compare"); }

  /// A run that was stopped, and points that failed.
  void go_on() {
    const auto failed = std::count_if(study_.points.begin(), study_.points.end(), [](const Point& point) {
      return point.measured &&
             (point.measured->outcome == Outcome::failed || point.measured->outcome == Outcome::wrong_result);
    });
    if (!measures() || (ended_ && failed == 0)) {
      return;
    }
    const auto done = std::count_if(study_.points.begin(), study_.points.end(), has_time);
    say(ended_ ? fmt::format("{} failed. Remove the cause that is said above, and measure them again:",
                             count_of(failed, "point"))
               : fmt::format("The run was stopped before its end, with {} measured. Go on with it:",
                             count_of(done, "point")),
        without(header_.command, "--resume") + " --resume");
  }

  void shared_gpu() {
    const bool shared = std::any_of(study_.points.begin(), study_.points.end(), [](const Point& point) {
      return point.measured && point.measured->shared_gpu;
    });
    if (shared) {
      say(fmt::format(
              "Ranks shared GPUs, so no time says anything about links. Run it on a machine with {} GPUs:",
              cells_.back().question.ranks),
          without(header_.command, "--ranks-per-gpu"));
    }
  }

  /// More ranks than cores measure the scheduler.
  void fewer_ranks() {
    int cores = 0;
    for (const Point& point : study_.points) {
      const bool here = header_.host.contains("cores") && has_time(point) &&
                        library_of(point.measured->backend).empty() &&
                        registered(point.measured->backend).ranks_take_cores();
      if (here && point.key.ranks > 1) {
        cores = parse_number<int>(header_.host.at("cores")).value_or(0);
      }
      for (const Limit& limit : point.predicted ? point.predicted->limits : std::vector<Limit>{}) {
        cores = limit.kind == Limit::Kind::shared_cores ? limit.cores : cores;
      }
    }
    const int most = cells_.back().question.ranks;
    if (cores > 0 && most > cores) {
      say(fmt::format(
          "{} ranks shared {} cores: such times are of the cores and not of links. {} in {} gives "
          "each rank a core, more ranks take more machines.",
          most, cores, cores > 1 ? fmt::format("`ranks: {}`", cores) : "No number of ranks",
          file_of(header_)));
    }
  }

  void quieter_or_longer() {
    const std::vector<Cell> unclear = undecided(cells_);
    const std::string where =
        unclear.empty()
            ? ""
            : fmt::format("At {} of {} the fastest two cannot be told apart (first {} on {} ranks). ",
                          unclear.size(), count_of(cells_.size(), "size"),
                          format(unclear.front().question.bytes), unclear.front().question.ranks);
    if (study_.machine.calibrated && study_.machine.calibrated->disturbance) {
      say(where + "Something else ran on this machine. See what, end it, and run this again:",
          "ringside doctor");
    } else if (!unclear.empty() && measures()) {
      say(where + "Measure each for longer:",
          with_longer(header_.command, "--time-per-point", study::LaunchChoices{}.time_per_point));
    }
  }

  void better_predictions() {
    if (study_.conclusions.accuracy.empty()) {
      return;
    }
    const Accuracy& all = study_.conclusions.accuracy.back();
    const double covered = all.coverage.value_or(1);
    if (all.median_abs_error <= kGoodError && covered >= kGoodCoverage) {
      return;
    }
    const std::string why =
        all.median_abs_error > kGoodError
            ? fmt::format("Predictions were off by {} in the median. ", percent(all.median_abs_error))
            : fmt::format("Only {} of the times lie in their predicted 90 % interval. ", percent(covered));
    const Point& worst = *worst_prediction(study_.points);
    if (worst.predicted->source == CostSource::calibrated) {
      const auto& probed = study_.machine.calibrated;  // None in records that somebody cut.
      if (typed("compare") && !(probed && probed->disturbance)) {
        say(why + "Probe this machine for longer:",
            with_longer(header_.command, "--calibrate-time", study::LaunchChoices{}.calibrate_time));
      }
      return;
    }
    if (header_.scenario.text.empty()) {
      return;
    }
    if (!study_.machine.gpu) {
      say(why +
              "The description of the machine does not fit it. Probe it there, and predict from the file "
              "that this writes:",
          "ringside calibrate");
      return;
    }
    say(why + "Tell what was measured, and the rest is predicted anew from it:",
        fmt::format("ringside predict {} --known '{{{}: {{ranks: {}, bytes: {}, seconds: {}}}}}'",
                    file_of(header_), worst.key.algorithm, worst.key.ranks, format(worst.key.bytes),
                    format(worst.measured->seconds)));
  }

  /// What to do with the fastest, on most ranks at the largest size.
  void use() {
    const auto decided = std::find_if(cells_.rbegin(), cells_.rend(), [](const Cell& cell) {
      return cell.question.ranks > 1 && !ranking(cell, Side::measured).empty();
    });
    if (decided == cells_.rend()) {
      return;
    }
    const Cell& cell = *decided;
    const std::vector<Contender> order = ranking(cell, Side::measured);
    const std::string& best = order.front().algorithm;
    const std::string where =
        fmt::format("at {} on {} ranks", format(cell.question.bytes), cell.question.ranks);
    const auto timed = std::find_if(cell.points.begin(), cell.points.end(),
                                    [](const Point* point) { return has_time(*point); });
    const Backend backend = (*timed)->measured->backend;
    const std::string library(library_of(backend));
    const std::string call(name(cell.question.collective));
    const bool native = timing(cell, kNative, Side::measured).has_value();
    if (native && library.empty()) {
      return;  // Ours through memory, which no training calls.
    }
    if (native && !clearly_faster(cell, best, kNative, Side::measured, kWorthHaving)) {
      say(fmt::format("Train with {}'s own {}: {} none of ours is clearly faster.", library, call, where));
    } else if (!native && !library.empty() && measures()) {
      say(fmt::format("{}'s own {} was not measured. Add `native` to `algorithms` in {}, and run it again.",
                      library, call, file_of(header_)));
    } else if (cell.question.collective != Collective::all_reduce || order.size() < 2 ||
               !clearly_faster(cell, best, order[1].algorithm, Side::measured, kWorthHaving)) {
      return;
    } else if (native && registered(backend).software == &Software::mpi) {
      say(fmt::format("{} beats {}'s own choice {}. Write rules by which it takes the fastest:", best,
                      library, where),
          fmt::format("ringside tune {} --machine {}", file_of(header_),
                      (study_.file.parent_path() / "machine.yaml").string()));
    } else {
      say(fmt::format("{} wins {}. See what it gains in steps of training, with buckets of gradients:", best,
                      where),
          fmt::format("build/release/examples/ddp --ranks {} --algorithm {}{}", cell.question.ranks, best,
                      registered(backend).on_gpus ? " --backend nccl" : ""));
    }
  }

  /// What was only predicted: the measurement that says most, where one does.
  void measure() {
    if (header_.scenario.text.empty() || !study_.native.advice || !study_.native.ours) {
      return;
    }
    const NcclAdvice& advice = *study_.native.advice;
    say(fmt::format("Measure this next: {} (narrows the interval from ×{:.1f} to ×{:.1f})", advice.what,
                    advice.width_before, advice.width_after),
        fmt::format("{}\n  then --known '{}'", advice.command, advice.known));
    if (!advice.question.empty()) {
      say(fmt::format("Open question about the transport: {} Answer with {}.", advice.question,
                      advice.answer));
    }
  }

  const study::PointStudy& study_;
  const RunHeader& header_;
  std::vector<Cell> cells_;
  bool ended_;
  std::vector<std::string> lines_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<std::string> next_steps(const study::PointStudy& study, const RunHeader& header, bool ended) {
  return study.points.empty() ? std::vector<std::string>{} : Steps(study, header, ended).all();
}

std::vector<std::string> first_measurement(const RunHeader& header) {
  return {"Nothing was measured yet. On the machine itself, each time beside its prediction:",
          fmt::format("  ringside compare {}", file_of(header))};
}

}  // namespace ringside::cli
