// 400 lines: the sentences of a verdict share how a winner, a margin and a range of sizes are said.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison/accuracy.hpp"
#include "analysis/comparison/comparison.hpp"
#include "analysis/comparison/point_sentences.hpp"
#include "analysis/comparison/verdict.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

/// How many of a kind are named before the rest is counted.
constexpr std::size_t kNamed = 3;

// ---- words ------------------------------------------------------------------------------------------------

int decimals_of(double factor) { return factor < 1.095 ? 2 : factor < 9.95 ? 1 : 0; }

/// `2.9×`, `1.07×`, `31×`.
std::string factor_words(double factor) { return factor_text(factor, decimals_of(factor)); }

/// `90 %: 1.9 to 2.4`: the interval of a factor; empty where it says no more than the factor.
std::string range_words(const Interval<double>& factor, Side side) {
  const double width = 1 + kWorthHaving;
  if (factor.typical <= width * factor.low && factor.high <= width * factor.typical) {
    return "";
  }
  return fmt::format("{} %: {:.{}f} to {:.{}f}", side == Side::measured ? 95 : 90, factor.low,
                     decimals_of(factor.low), factor.high, decimals_of(factor.high));
}

/// ` (90 %: 1.9 to 2.4; predicted 3.1×)`: all that stands beside a factor, or nothing.
std::string in_brackets(const std::string& range, const std::string& beside) {
  const std::string both = range + (range.empty() || beside.empty() ? "" : "; ") + beside;
  return both.empty() ? "" : fmt::format(" ({})", both);
}

/// `at 64 MiB on 4 ranks`.
std::string place(const PointKey& key) {
  return fmt::format("at {} on {}", format(key.bytes), count_of(key.ranks, "rank"));
}

std::string whose(Backend backend) {
  const std::string_view library = library_of(backend);
  return library.empty() ? "the backend's" : fmt::format("{}'s", library);
}

void name_first(std::vector<std::string>& sentences, std::vector<std::string> all, std::string_view rest) {
  const std::size_t left = all.size() > kNamed ? all.size() - kNamed : 0;
  all.resize(all.size() - left);
  sentences.insert(sentences.end(), all.begin(), all.end());
  if (left > 0) {
    sentences.push_back(fmt::format("{} more {}", left, rest));
  }
}

// ---- who wins ---------------------------------------------------------------------------------------------

/// Two algorithms in one cell.
struct Comparison {
  std::string winner;
  std::string loser;
  double factor = 1;            ///< The loser's time over the winner's …
  Interval<double> range = {};  ///< … with its interval.
  bool small = false;           ///< Not worth having.
  bool clear = false;           ///< Neither small nor lost in the scatter.
};

std::optional<Comparison> compare(const Cell& cell, const std::string& a, const std::string& b, Side side) {
  const std::optional<Interval<double>> time_a = timing(cell, a, side);
  const std::optional<Interval<double>> time_b = timing(cell, b, side);
  if (!time_a || !time_b) {
    return std::nullopt;
  }
  const bool a_wins = time_a->typical <= time_b->typical;
  const std::string& winner = a_wins ? a : b;
  const std::string& loser = a_wins ? b : a;
  const Interval<double> range = *times_as_long(cell, loser, winner, side);
  return Comparison{.winner = winner,
                    .loser = loser,
                    .factor = range.typical,
                    .range = range,
                    .small = range.typical <= 1 + kWorthHaving,
                    .clear = clearly_faster(cell, winner, loser, side, kWorthHaving)};
}

/// The cells of one number of ranks, by ascending size.
using Sizes = std::vector<Cell>;

/// `predicted 3.1×`; empty without a prediction.
std::string prediction_beside(const Comparison& measured, const std::optional<Comparison>& predicted) {
  if (!predicted) {
    return "";
  }
  if (predicted->small) {
    return measured.small ? "as predicted" : "predicted: no difference";
  }
  if (measured.clear && predicted->winner == measured.winner) {
    return fmt::format("predicted {}", factor_words(predicted->factor));
  }
  return fmt::format("predicted: {}, by {}", predicted->winner, factor_words(predicted->factor));
}

/// `; below 38 KiB naive wins`: what happens at the sizes under the deciding one.
std::string below(const Sizes& sizes, const AlgorithmPair& pair, const Comparison& decided, Side side) {
  std::vector<std::pair<Bytes, Comparison>> comparisons;
  for (const Cell& cell : sizes) {
    if (const auto at = compare(cell, pair.baseline, pair.candidate, side)) {
      comparisons.emplace_back(cell.question.bytes, *at);
    }
  }
  const Crossover crossover = *crossover_of(sizes, pair);
  const auto count = side == Side::measured ? crossover.measured_crossings : crossover.predicted_crossings;
  const auto last = side == Side::measured ? crossover.measured_bytes : crossover.predicted_bytes;
  /// How many of the sizes at which this one is faster say so clearly, or do not.
  const auto count_of_clear = [&](std::string_view winner, bool clear) {
    return std::ranges::count_if(
        comparisons, [&](const auto& at) { return at.second.winner == winner && at.second.clear == clear; });
  };
  if (!count) {
    return "";
  }
  if (*count == 0) {
    const std::string from = format(comparisons.front().first);
    return count_of_clear(decided.winner, false) == 0 ? "; it wins at every size from " + from
                                                      : "; from " + from + " on it is never slower";
  }
  if (*count > 1) {
    return fmt::format("; it is faster from {} on", format(*last));
  }
  return fmt::format("; below {} {}", format(*last),
                     count_of_clear(decided.loser, true) > 0 ? decided.loser + " wins"
                                                             : "there is no difference worth having");
}

std::string_view is(Side side) { return side == Side::predicted ? "is predicted to be" : "is"; }

std::string pair_sentence(const Sizes& sizes, const AlgorithmPair& pair, const Deciding& deciding) {
  const auto& [cell, side] = deciding;
  const bool measured = side == Side::measured;
  const Comparison decided = *compare(*cell, pair.baseline, pair.candidate, side);
  const std::string where = place(cell->question);
  const std::string faster =
      fmt::format("{} {} {} faster", decided.winner, is(side), factor_words(decided.factor));
  const std::string beside =
      measured ? prediction_beside(decided, compare(*cell, pair.baseline, pair.candidate, Side::predicted))
               : "";
  if (decided.small) {
    return fmt::format("no difference worth having {}between {} and {} {}{}", measured ? "" : "is predicted ",
                       pair.candidate, pair.baseline, where, in_brackets("", beside));
  }
  const std::string range = range_words(decided.range, side);
  if (!decided.clear) {
    return fmt::format("{} and {} cannot be told apart {}: {}{}", pair.candidate, pair.baseline, where,
                       measured ? "the difference is smaller than the noise" : faster,
                       in_brackets(measured ? "" : range, beside));
  }
  return fmt::format("{} than {} {}{}{}", faster, decided.loser, where, in_brackets(range, beside),
                     below(sizes, pair, decided, side));
}

/// For a scenario with one algorithm (of our own, or `native` alone): what it takes.
std::string lone_sentence(const Deciding& deciding) {
  const std::vector<Contender> ours = ranking(*deciding.cell, deciding.side);
  const std::string algorithm = ours.empty() ? std::string(kNative) : ours.front().algorithm;
  const auto text = [&](Side side) {
    const std::optional<Interval<double>> time = timing(*deciding.cell, algorithm, side);
    return time ? format(Seconds{time->typical}) : "";
  };
  const std::string predicted = text(Side::predicted);
  const std::string where = place(deciding.cell->question);
  if (deciding.side == Side::predicted) {
    return fmt::format("{} is predicted to take {} {}", algorithm, predicted, where);
  }
  return fmt::format("{} takes {} {}{}", algorithm, text(Side::measured), where,
                     predicted.empty() ? "" : fmt::format(" (predicted {})", predicted));
}

/// A third algorithm that beats both of the pair.
std::optional<std::string> better_than_the_pair(const AlgorithmPair& pair, const Deciding& deciding) {
  const auto& [cell, side] = deciding;
  const std::string best = ranking(*cell, side).front().algorithm;
  const std::string pair_best = compare(*cell, pair.baseline, pair.candidate, side)->winner;
  const Comparison lead = *compare(*cell, best, pair_best, side);
  if (best == pair.baseline || best == pair.candidate || !lead.clear) {
    return std::nullopt;
  }
  return fmt::format("{} is {}the fastest of all {}: {} faster than {}", best,
                     side == Side::predicted ? "predicted to be " : "", place(cell->question),
                     factor_words(lead.factor), pair_best);
}

bool is_fitted_to_nccl(const Cell& cell) {
  return std::ranges::any_of(cell.points, [](const Point* point) {
    return point->key.algorithm == kNative && point->predicted &&
           point->predicted->fidelity == Fidelity::nccl;
  });
}

std::optional<std::string> native_sentence(const Deciding& deciding) {
  const auto& [cell, side] = deciding;
  const std::vector<Contender> ours = ranking(*cell, side);
  const std::string native(kNative);
  const std::optional<Comparison> decided =
      ours.empty() ? std::nullopt : compare(*cell, native, ours.front().algorithm, side);
  if (!decided) {
    return std::nullopt;
  }
  if (side == Side::predicted && is_fitted_to_nccl(*cell)) {
    return "do not compare native with the others: it is fitted to real runs, they assume that nothing is "
           "lost";
  }
  std::string owner = "the backend's";
  for (const Point* point : cell->points) {
    if (point->key.algorithm == native && point->measured) {
      owner = whose(point->measured->backend);
    }
  }
  const std::string its = fmt::format("{} own {}", owner, name(cell->question.collective));
  const std::string best =
      ours.size() > 1 ? fmt::format("the best of ours ({})", ours.front().algorithm) : ours.front().algorithm;
  const std::string where = place(cell->question);
  if (!decided->clear) {
    return fmt::format("{} {} as fast as {} {}", its, is(side), best, where);
  }
  const bool native_wins = decided->winner == native;
  return fmt::format("{} {} {} faster than {} {}", native_wins ? its : best, is(side),
                     factor_words(decided->factor), native_wins ? best : its, where);
}

std::vector<AlgorithmNics> nics_of(const Cell& cell) {
  std::vector<AlgorithmNics> predicted;
  for (const Point* point : cell.points) {
    if (point->predicted && point->predicted->nics) {
      predicted.push_back({point->key.algorithm, *point->predicted->nics});
    }
  }
  return predicted;
}

/// Its ring carries the whole message around instead of chunks, which is what people overlook.
std::optional<std::string> tutorial_ring_sentence(const Deciding& deciding) {
  const auto& [cell, side] = deciding;
  const std::optional<Comparison> decided = compare(*cell, "tutorial_ring", "naive", side);
  if (!decided) {
    return std::nullopt;
  }
  const std::string where = place(cell->question);
  if (decided->small) {
    return fmt::format("tutorial_ring {} no faster than naive {}: its critical path moves the same bytes",
                       is(side), where);
  }
  if (!decided->clear) {
    return fmt::format("tutorial_ring and naive cannot be told apart {}", where);
  }
  if (decided->winner == "naive") {
    return fmt::format(
        "tutorial_ring {} {} slower than naive {}: all ranks send the whole message in every round", is(side),
        factor_words(decided->factor), where);
  }
  return fmt::format(
      "tutorial_ring {} {} faster than naive {}, although its critical path moves the same bytes", is(side),
      factor_words(decided->factor), where);
}

// ---- how good the predictions were ------------------------------------------------------------------------

/// Where another algorithm was measured to be clearly faster than the one predicted to win.
std::vector<std::string> wrong_winners(std::span<const Cell> all_cells,
                                       const std::optional<AlgorithmPair>& pair,
                                       const std::map<int, Deciding>& deciding) {
  std::vector<std::string> sentences;
  for (const Cell& cell : all_cells) {
    const std::vector<Contender> predicted = ranking(cell, Side::predicted);
    const std::vector<Contender> measured = ranking(cell, Side::measured);
    if (predicted.size() < 2 || measured.empty()) {
      continue;
    }
    const std::string& expected = predicted.front().algorithm;
    const std::string& winner = measured.front().algorithm;
    const std::optional<Comparison> decided = compare(cell, expected, winner, Side::measured);
    if (!decided || !decided->clear) {
      continue;
    }
    // The first sentences have said it already of the pair at its largest size.
    const auto decided_at = deciding.find(cell.question.ranks);
    const auto in_pair = [&](const std::string& name) {
      return name == pair->baseline || name == pair->candidate;
    };
    if (pair && decided_at != deciding.end() && decided_at->second.cell->question == cell.question &&
        in_pair(expected) && in_pair(winner)) {
      continue;
    }
    sentences.push_back(fmt::format("predicted winner {} was {}; measured: {}, by {}", place(cell.question),
                                    expected, winner, factor_words(decided->factor)));
  }
  return sentences;
}

std::vector<std::string> failures(std::span<const Point> points) {
  std::vector<std::string> sentences;
  for (const Point& point : points) {
    if (!point.measured || point.measured->outcome == Outcome::ok) {
      continue;
    }
    const std::string_view what = point.measured->outcome == Outcome::failed ? "failed"
                                  : point.measured->outcome == Outcome::wrong_result
                                      ? "gave a wrong result"
                                      : "cannot be measured here";
    const std::string& note = point.measured->note;
    sentences.push_back(fmt::format("{} {} {}{}{}", point.key.algorithm, what, place(point.key),
                                    note.empty() ? "" : ": ", note));
  }
  return sentences;
}

/// What the intervals are worth; empty where there are none.
std::string coverage_words(std::span<const Point> points, const Accuracy& all) {
  constexpr double kSaysNothing = 10;
  const double width = width_of_intervals(points);
  return !all.coverage ? ""
         : width > kSaysNothing
             ? fmt::format("; their 90 % intervals span a factor of {:.0f} and say nothing", width)
             : fmt::format("; {} of the measured times lie in their predicted 90 % interval",
                           percent(*all.coverage));
}

std::optional<std::string> accuracy_sentence(std::span<const Point> points) {
  const std::vector<Accuracy> records = accuracy(points);
  if (records.empty()) {
    return std::nullopt;
  }
  const Accuracy& all = records.back();
  const Point& worst = *worst_prediction(points);
  const double worst_error = std::abs(*relative_error(worst));
  const std::string worst_place = fmt::format("{} {}", worst.key.algorithm, place(worst.key));
  if (all.points == 1) {
    return fmt::format("the prediction was off by {} ({})", percent(worst_error), worst_place);
  }
  return fmt::format("predictions were off by {} in the median (worst: {}, {}){}",
                     percent(all.median_abs_error), worst_place, percent(worst_error),
                     coverage_words(points, all));
}

/// What limits the algorithms of the pair; one sentence when it is the same for both.
std::vector<std::string> what_limits(const AlgorithmPair& pair, const Cell& cell) {
  std::vector<std::pair<std::string, std::vector<Limit>>> found;
  for (const std::string& algorithm : {pair.baseline, pair.candidate}) {
    for (const Point* point : cell.points) {
      if (point->key.algorithm != algorithm || !point->predicted || point->predicted->limits.empty()) {
        continue;
      }
      if (!found.empty() && found.back().second == point->predicted->limits) {
        found.back().first += " and " + algorithm;
      } else {
        found.emplace_back(algorithm, point->predicted->limits);
      }
    }
  }
  std::vector<std::string> sentences;
  sentences.reserve(found.size());
  for (const auto& [algorithms, limits] : found) {
    sentences.push_back(
        fmt::format("limit of {} {}: {}", algorithms, place(cell.question), limit_sentences(limits)));
  }
  return sentences;
}

}  // namespace

std::vector<std::string> verdict_sentences(std::span<const Point> points) {
  std::vector<std::string> sentences;
  const auto say = [&](const std::optional<std::string>& sentence) {
    if (sentence) {
      sentences.push_back(*sentence);
    }
  };

  const std::vector<Cell> all_cells = cells(points);
  const std::map<int, Sizes> by_ranks = cells_by_ranks(points);
  if (by_ranks.empty() && !points.empty()) {
    sentences.emplace_back("one rank exchanges nothing: there is nothing to compare");
  }

  // Who wins, for each number of ranks.
  const std::optional<AlgorithmPair> pair = choose_pair(points);
  const auto decides = [&](const Cell& cell, Side side) {
    if (pair) {
      return compare(cell, pair->baseline, pair->candidate, side).has_value();
    }
    return !ranking(cell, side).empty() || timing(cell, kNative, side).has_value();
  };
  std::map<int, Deciding> deciding;
  for (const auto& [ranks, sizes] : by_ranks) {
    if (const std::optional<Deciding> found = deciding_cell(sizes, decides)) {
      deciding[ranks] = *found;
      sentences.push_back(pair ? pair_sentence(sizes, *pair, *found) : lone_sentence(*found));
    }
  }

  // Who else is there, where it matters most.
  if (!deciding.empty()) {
    const Deciding& most_ranks = deciding.rbegin()->second;
    if (pair) {
      say(better_than_the_pair(*pair, most_ranks));
    }
    say(native_sentence(most_ranks));
    for (const std::string& sentence : nic_sentences(nics_of(*most_ranks.cell))) {
      say(sentence);
    }
    say(tutorial_ring_sentence(most_ranks));
  }

  name_first(sentences, wrong_winners(all_cells, pair, deciding), "predicted winners were wrong");
  if (std::any_of(points.begin(), points.end(),
                  [](const Point& point) { return point.measured && point.measured->shared_gpu; })) {
    sentences.emplace_back("ranks shared GPUs: no time says anything about links");
  }
  name_first(sentences, failures(points), "points have no time");
  say(accuracy_sentence(points));
  if (pair && !deciding.empty()) {
    for (std::string& sentence : what_limits(*pair, *deciding.rbegin()->second.cell)) {
      sentences.push_back(std::move(sentence));
    }
  }
  return sentences;
}

}  // namespace ringside
