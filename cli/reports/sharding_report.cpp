#include "cli/reports/sharding_report.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/plan/plan_sentences.hpp"
#include "common/numbers.hpp"

namespace ringside::cli {
namespace {

std::string gb_text(Bytes size) { return fmt::format("{:.3g}", static_cast<double>(size.value) / 1e9); }

std::string cost_number(double amount) { return fmt::format("{:.{}f}", amount, amount < 10 ? 2 : 0); }

std::string memory_cell(const ShardedStep& step) {
  return step.gpu_memory ? fmt::format("{} of {} GB", gb_text(step.memory.total()), gb_text(*step.gpu_memory))
                         : std::string(kAbsent);
}

std::string step_share(const Interval<Seconds>& part, const Interval<Seconds>& whole) {
  return percent(part.typical.value / whole.typical.value);
}

std::vector<std::string> way_row(const study::ShardingStudy& study, const study::ShardedOffer& way) {
  const ShardedStep& step = way.step;
  std::vector<std::string> row = {&way == &study.ways.front() && way.recommended() ? "→" : "",
                                  study.offers[way.offer].name, describe(step.sharding), memory_cell(step)};
  if (!step.problem.empty()) {
    row.resize(13);
    return row;
  }
  const auto largest = step.largest_batch ? std::to_string(*step.largest_batch) : std::string(kAbsent);
  row.insert(
      row.end(),
      {fmt::format("{} × {}", step.micro_batch, step.micro_batches), largest, format(step.total.typical),
       fmt::format("{} – {}", format(step.total.low), format(step.total.high)),
       step_share(step.exposed, step.total),
       step.layout.pipeline > 1 ? step_share(step.bubble, step.total) : std::string(kAbsent),
       fmt::format("{:.0f}", step.tokens_per_second.typical),
       step.cost ? cost_number(step.cost->amount.typical) : std::string(kAbsent),
       step.cost
           ? fmt::format("{} – {}", cost_number(step.cost->amount.low), cost_number(step.cost->amount.high))
           : std::string(kAbsent)});
  return row;
}

/// Each sentence once, the first few of them; `file` has all.
void print_once(const char* title, const std::vector<std::string>& sentences,
                const std::filesystem::path& file) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> said;
  for (const std::string& sentence : sentences) {
    if (!sentence.empty() && std::find(said.begin(), said.end(), sentence) == said.end()) {
      said.push_back(sentence);
    }
  }
  for (std::size_t i = 0; i < std::min(said.size(), kMost); ++i) {
    print_line(fmt::format("{}{}", title, said[i]));
  }
  if (said.size() > kMost) {
    print_line(fmt::format("{}{} more stand in {}", title, said.size() - kMost, file.string()));
  }
}

/// `the run of 15 B tokens`
std::string run_words(const Workload& workload) {
  const double tokens =
      workload.samples * workload.epochs * static_cast<double>(workload.transformer->sequence);
  constexpr double kRoundsToABillion = 0.9995e9;
  constexpr double kRoundsToATrillion = 0.9995e12;
  return tokens >= kRoundsToATrillion  ? fmt::format("the run of {:.3g} T tokens", tokens / 1e12)
         : tokens >= kRoundsToABillion ? fmt::format("the run of {:.3g} B tokens", tokens / 1e9)
                                       : fmt::format("the run of {:.3g} M tokens", tokens / 1e6);
}

/// Offers that could be rented at a price that nobody says, the first few by name.
void print_unpriced(const study::ShardingStudy& study) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> names;
  for (const study::ShardedOffer& way : study.ways) {
    const std::string& name = study.offers[way.offer].name;
    if (way.step.problem.empty() && !way.step.cost &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  if (names.empty()) {
    return;
  }
  const std::size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  print_line(fmt::format("No price is known of {}{}, which may cost less.", fmt::join(names, ", "),
                         more > 0 ? fmt::format(" and {} more", more) : ""));
}

void print_best(const study::ShardingStudy& study) {
  const study::ShardedOffer& best = study.ways.front();
  if (!study.why_none.empty()) {
    return;  // The error says it.
  }
  const auto cost = [](const ShardedStep& step) {
    return step.cost ? fmt::format(", {} {}", cost_number(step.cost->amount.typical), step.cost->currency)
                     : std::string{};
  };
  const auto time = [&](const ShardedStep& step) {
    return step.run ? long_time(step.run->typical.value) : long_time(1e9 / step.tokens_per_second.typical);
  };
  const auto named = [&](const study::ShardedOffer& way) {
    return fmt::format("{} with {}", study.offers[way.offer].name, describe(way.step.sharding));
  };
  const std::string for_what = best.step.run ? run_words(study.plan.workload) : "a billion tokens";
  const std::string standing = fmt::format("{} for {}{}", time(best.step), for_what, cost(best.step));
  if (study.tied.empty()) {
    print_line(fmt::format("Rent {}: {}.", named(best), standing));
  } else {
    constexpr std::size_t kMost = 4;
    std::vector<std::string> names = {study.offers[best.offer].name};
    for (const std::size_t index : study.tied) {
      names.push_back(study.offers[index].name);
    }
    const std::size_t more = names.size() - std::min(names.size(), kMost + 1);
    names.resize(names.size() - more);
    print_line(fmt::format(
        "Cannot be told apart: {}{}: their 90 % intervals overlap. Typically {} is best: {}.",
        fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "", named(best), standing));
    const Offer& offer = study.offers[best.offer];
    print_line(fmt::format("What would tell: one step on one of their GPUs (--known '{}: N samples/s'){}.",
                           offer.machine.gpu ? offer.machine.gpu->model : "GPU",
                           offer.per_hour
                               ? fmt::format("; an hour of the offer costs {} {}",
                                             cost_number(offer.per_hour->amount), offer.per_hour->currency)
                               : ""));
  }
  if (study.unmeasured) {
    const study::ShardedOffer& way = study.ways[*study.unmeasured];
    print_line(fmt::format(
        "{} may be better{}, but only by an extrapolated number: nobody published how fast {} trains a "
        "language model, and one step settles it (--known '{}: N samples/s').",
        named(way), cost(way.step), study.offers[way.offer].machine.gpu->model,
        study.offers[way.offer].machine.gpu->model));
  }
  if (study.ways.size() > 1 && study.ways[1].step.problem.empty() && study.unmeasured != 1) {
    const study::ShardedOffer& next = study.ways[1];
    print_line(fmt::format("Next is {}: {}{}.", named(next), time(next.step), cost(next.step)));
  }
  if (best.step.cost) {
    print_unpriced(study);
  }
}

}  // namespace

void print_runs(const std::vector<RunCheck>& checks, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    for (const RunCheck& check : checks) {
      nlohmann::ordered_json line = {{"record", "published_run"},
                                     {"run", check.run.run},
                                     {"source", check.run.source},
                                     {"role", check.run.role},
                                     {"published", check.run.step_seconds}};
      if (check.ratio()) {
        line["planned"] = check.step.total.typical.value;
        line["low"] = check.step.total.low.value;
        line["high"] = check.step.total.high.value;
      } else {
        line["problem"] = check.step.problem;
      }
      print_line(line.dump());
    }
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const RunCheck& check : checks) {
    const ShardedStep& step = check.step;
    const auto ratio = check.ratio();
    rows.push_back(
        {check.run.run, check.run.plan.offers.front().name, describe(step.sharding), memory_cell(step),
         format(Seconds{check.run.step_seconds}), ratio ? format(step.total.typical) : step.problem,
         ratio ? fmt::format("{} – {}", format(step.total.low), format(step.total.high)) : "",
         ratio ? fmt::format("{:.2f}", *ratio) : "", check.inside() ? "" : "outside", check.run.role});
  }
  print(table(
      {"run", "on", "way", ">memory of a GPU", ">published", ">planned", ">90 %", ">ratio", "", "speed"},
      rows));
  for (const char* role : {"fitted", "held out"}) {
    std::vector<double> factors;
    int inside = 0;
    int close = 0;
    for (const RunCheck& check : checks) {
      if (check.run.role != role || !check.ratio()) {
        continue;
      }
      factors.push_back(std::exp(std::abs(std::log(*check.ratio()))));
      inside += check.inside() ? 1 : 0;
      close += factors.back() <= 1.5 ? 1 : 0;
    }
    if (!factors.empty()) {
      std::sort(factors.begin(), factors.end());
      print_line(fmt::format("{}: {} runs, median factor {:.2f}, {} within 1.5, {} inside their interval",
                             role, factors.size(), factors[factors.size() / 2], close, inside));
    }
  }
  const FactorSummary summary = held_out_summary_of(checks);
  print_line(
      fmt::format("every source held out in turn: {} runs, median factor {:.2f}, 90th percentile {:.2f}, "
                  "{:.0f} % inside their interval",
                  summary.rows, summary.median, summary.percentile_90, 100 * summary.coverage));
}

void print_sharding(const study::ShardingStudy& study, int top, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_file(study.file);
    return;
  }
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> problems;
  std::vector<std::string> bases;
  std::vector<std::string> warnings;
  std::string currency = "cost";
  bool run = false;
  for (const study::ShardedOffer& way : study.ways) {
    if (rows.size() < static_cast<std::size_t>(top)) {
      rows.push_back(way_row(study, way));
      const Offer& offer = study.offers[way.offer];
      bases.push_back(way.step.basis);
      bases.insert(bases.end(), offer.assumptions.begin(), offer.assumptions.end());
      if (offer.interruptible) {
        bases.push_back(interruption_sentence(study.plan));
      }
      for (const std::string& warning : warnings_of(offer, way.step.run)) {
        warnings.push_back(fmt::format("{}: {}", offer.name, warning));
      }
    }
    currency = way.step.cost ? way.step.cost->currency : currency;
    run = run || way.step.run.has_value();
    if (!way.step.problem.empty()) {
      problems.push_back(fmt::format("{}, {}: {}", study.offers[way.offer].name, describe(way.step.sharding),
                                     way.step.problem));
    }
  }
  print(
      table({"", "offer", "way", ">memory of a GPU", ">batch × passes", ">fits", ">step", ">90 %", ">exposed",
             ">bubble", ">tokens/s", fmt::format(">{}{}", currency, run ? "" : " per 1 G tokens"), ">90 %"},
            rows));
  if (rows.size() < study.ways.size()) {
    print_line(fmt::format("{} more are in {} (--top {} shows them)", study.ways.size() - rows.size(),
                           study.file.string(), study.ways.size()));
  }
  print_line("fits: the largest micro-batch; exposed: what communication adds to the step");
  print_once("not used: ", problems, study.file);
  print_line();
  if (!study.ways.empty()) {
    print_best(study);
  }
  const auto trains_adapters = [](const study::ShardedOffer& way) {
    return way.step.sharding.adapters != Adapters::none;
  };
  const auto with_adapters = std::count_if(study.ways.begin(), study.ways.end(), trains_adapters);
  if (with_adapters > 0 && with_adapters < static_cast<std::ptrdiff_t>(study.ways.size())) {
    print_line(
        "lora and qlora train small matrices beside frozen weights: the same tokens teach the model less.");
  }
  print_once("assumed: ", bases, study.file);
  print_once("to know: ", warnings, study.file);
}

}  // namespace ringside::cli
