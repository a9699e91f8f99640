#include "cli/reports/plan_brief.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/plan/plan_sentences.hpp"
#include "analysis/plan/plan_ties.hpp"
#include "common/numbers.hpp"

namespace ringside::cli {
namespace {

std::string time_range(const Interval<Seconds>& range) {
  return fmt::format("{} – {}", format(range.low), format(range.high));
}

std::string shares(const Interval<double>& range) {
  return fmt::format("{} – {}", percent(range.low), percent(range.high));
}

std::string time_or_none(const std::optional<Seconds>& time) {
  return time ? format(*time) : std::string(kAbsent);
}

std::string amount_text(double amount) { return fmt::format("{:.{}f}", amount, amount < 1 ? 3 : 2); }

std::string speedup(const std::optional<Seconds>& ring, const std::optional<Seconds>& naive) {
  return ring && naive ? fmt::format("{:.2g}×", naive->value / ring->value) : std::string(kAbsent);
}

/// As people call sizes of models: `85.2 MB`.
std::string model_size(Bytes size) {
  const double number = static_cast<double>(size.value) / 1e6;
  return number < 1000 ? fmt::format("{:.3g} MB", number) : fmt::format("{:.3g} GB", number / 1000);
}

/// The least and the largest of some numbers.
struct Range {
  double low = 0;
  double high = 0;
  bool any = false;

  void add(double value) {
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
};

std::string link_words(const Offer& offer) {
  const auto rate = link_bandwidth(offer.machine);
  return rate ? fmt::format("{} at {}", link_name(offer.machine), format(*rate)) : link_name(offer.machine);
}

std::string from_to(const Range& range, double factor, int digits, const char* unit) {
  const std::string low = fmt::format("{:.{}f}", factor * range.low, digits);
  const std::string high = fmt::format("{:.{}f}", factor * range.high, digits);
  return low == high ? low + unit : fmt::format("{} to {}{}", low, high, unit);
}

// --- Sentences --------------------------------------------------------------------------------------------------------

/// What a kind of link does to steps.
struct LinkFacts {
  Range typical;
  Range ends;
  Range ring;
};

std::vector<std::string> link_sentences(const study::PlanEstimate& plan) {
  std::map<std::string, LinkFacts> by_link;
  std::vector<std::string> order;
  for (std::size_t place = 0; place < plan.shown.size(); ++place) {
    const Offer& offer = plan.offers[plan.shown[place]];
    if (offer.gpus < 2) {
      continue;
    }
    const std::string link = link_words(offer);
    if (!by_link.contains(link)) {
      order.push_back(link);
    }
    LinkFacts& facts = by_link[link];
    const Interval<double>& share = plan.estimates[plan.shown[place]].step->exposed_share;
    facts.typical.add(share.typical);
    facts.ends.add(share.low);
    facts.ends.add(share.high);
    const Thresholds& found = plan.thresholds[place];
    if (found.ring && found.naive) {
      facts.ring.add(found.naive->value / found.ring->value);
    }
  }
  std::vector<std::string> sentences;
  for (const std::string& link : order) {
    const LinkFacts& facts = by_link.at(link);
    const char* verdict = facts.typical.low > 0.5    ? "is the bottleneck"
                          : facts.typical.high > 0.5 ? "is the bottleneck on some"
                          : facts.typical.high > 0.1 ? "slows training down"
                                                     : "is not the bottleneck";
    const char* ring = facts.ring.low > 1.05    ? "ring beats naive"
                       : facts.ring.high > 1.05 ? "ring beats naive on some"
                                                : "ring does not beat naive";
    sentences.push_back(fmt::format(
        "{} {}: {} of a step ({}) is lost to synchronising; {} there{}.", link, verdict,
        from_to(facts.typical, 100, 0, " %"), from_to(facts.ends, 100, 0, " % in the 90 % intervals"), ring,
        facts.ring.any ? fmt::format(", {}", from_to(facts.ring, 1, 1, "×")) : ""));
  }
  return sentences;
}

std::string enough_sentence(const study::PlanEstimate& plan, std::size_t place) {
  const Offer& offer = plan.offers[plan.shown[place]];
  const Thresholds& found = plan.thresholds[place];
  const auto rate = link_bandwidth(offer.machine);
  if (offer.gpus < 2 || !rate || !found.factor_for_10_percent || *found.factor_for_10_percent <= 1) {
    return {};
  }
  const bool accumulate = found.accumulate_for_10_percent && *found.accumulate_for_10_percent > 1;
  return fmt::format(
      "On {} less than 10 % would be lost from {} per GPU on{}.", offer.name,
      format(BytesPerSecond{*found.factor_for_10_percent * rate->value}),
      accumulate ? fmt::format(", or with {} micro-batches per step", *found.accumulate_for_10_percent) : "");
}

std::string breaker_sentence(const study::PlanStudy& study) {
  const study::PlanEstimate& plan = study.estimate;
  if (!study.ties.breaker) {
    return {};
  }
  const Offer& offer = plan.offers[study.ties.breaker->offer];
  const std::string price = offer.per_hour
                                ? fmt::format("; an hour of it costs {} {}",
                                              amount_text(offer.per_hour->amount), offer.per_hour->currency)
                                : "";
  if (study.ties.breaker->part == Planner::Part::computing && offer.machine.gpu) {
    return fmt::format("What would tell most: the speed of one {0} (--known '{0}: N samples/s'){1}.",
                       offer.machine.gpu->model, price);
  }
  return fmt::format("What would tell most: one all_reduce of {1} on {0} (--known '{0}: {1} in T ms'){2}.",
                     offer.name, model_size(gradient_bytes(plan.plan.workload)), price);
}

// --- Tables -----------------------------------------------------------------------------------------------------------

void print_brief_offers(const study::PlanEstimate& plan) {
  const bool run = plan.plan.workload.samples > 0;
  std::string currency;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t place = 0; place < plan.shown.size(); ++place) {
    const std::size_t index = plan.shown[place];
    const StepEstimate& step = *plan.estimates[index].step;
    const Thresholds& found = plan.thresholds[place];
    const auto& cost = plan.estimates[index].cost;
    currency = cost ? cost->currency : currency;
    rows.push_back(
        {plan.ranking.recommended == index ? "→" : "", plan.offers[index].name, format(step.total.typical),
         time_range(step.total), percent(step.exposed_share.typical), shares(step.exposed_share),
         format(step.communication.typical), time_or_none(found.ring), time_or_none(found.naive),
         cost ? amount_text(cost->amount.typical) : std::string(kAbsent),
         cost ? fmt::format("{} – {}", amount_text(cost->amount.low), amount_text(cost->amount.high))
              : std::string(kAbsent)});
  }
  const std::string cost_column =
      fmt::format(">{}{}", currency.empty() ? "cost" : currency, run ? "" : " per 1 M");
  print(table({"", "offer", ">step", ">90 %", ">lost", ">90 %", ">" + plan.plan.algorithm, ">ring", ">naive",
               cost_column, ">90 %"},
              rows));
}

/// An offer and what is said of it.
using Remark = std::pair<std::string, std::string>;

/// Each reason once: a listing may hold hundreds of offers that cannot be rented.
void print_problems(const std::vector<Remark>& problems, const std::filesystem::path& file) {
  constexpr std::size_t kMostReasons = 10;
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> names_of;
  for (const auto& [name, problem] : problems) {
    std::vector<std::string>& names = names_of[problem];
    if (names.empty()) {
      reasons.push_back(problem);
    }
    names.push_back(name);
  }
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    const std::vector<std::string>& names = names_of.at(reasons[i]);
    print_line(fmt::format("not used: {}{}: {}", names.front(),
                           names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "",
                           reasons[i]));
  }
  if (reasons.size() > kMostReasons) {
    print_line(fmt::format("not used: offers for {} more reasons stand in {}", reasons.size() - kMostReasons,
                           file.string()));
  }
}

void print_warnings(const std::vector<Remark>& warnings, const std::filesystem::path& file) {
  constexpr std::size_t kMostWarnings = 6;
  for (std::size_t i = 0; i < std::min(warnings.size(), kMostWarnings); ++i) {
    print_line(fmt::format("to know: {}: {}", warnings[i].first, warnings[i].second));
  }
  if (warnings.size() > kMostWarnings) {
    print_line(fmt::format("to know: {} more stand in {}", warnings.size() - kMostWarnings, file.string()));
  }
}

/// Each sentence once.
void print_assumed(const std::vector<std::string>& assumptions) {
  std::vector<std::string> said;
  for (const std::string& sentence : assumptions) {
    if (std::find(said.begin(), said.end(), sentence) == said.end()) {
      said.push_back(sentence);
    }
  }
  if (!said.empty()) {
    print_line(fmt::format("assumed: {}", fmt::join(said, " ")));
  }
}

}  // namespace

void print_verdict(const study::PlanStudy& study) {
  const study::PlanEstimate& plan = study.estimate;
  print_line(verdict_of(plan.offers, plan.ranking, study.ties));
  if (plan.ranking.recommended && study.ties.offers.empty() && study.ties.better.empty() &&
      study.ties.compared > 0) {
    print_line("That is sure: no 90 % interval of those it was compared with overlaps its.");
  }
  if (const std::string breaker = breaker_sentence(study); !breaker.empty()) {
    print_line(breaker);
  }
}

void print_explanations(const study::PlanStudy& study) {
  for (const study::Explanation& explanation : study.explanations) {
    print_line();
    for (const std::string& sentence : explanation.sentences) {
      print_line(sentence);
    }
  }
}

void print_brief_plan(const study::PlanStudy& study, bool explained, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_file(study.file);
    return;
  }
  const study::PlanEstimate& plan = study.estimate;
  std::vector<Remark> problems;
  for (std::size_t index = 0; index < plan.offers.size(); ++index) {
    if (!plan.estimates[index].problem.empty()) {
      problems.emplace_back(plan.offers[index].name, plan.estimates[index].problem);
    }
  }
  if (!plan.shown.empty()) {
    print_brief_offers(plan);
  }
  print_problems(problems, study.file);
  if (plan.shown.empty()) {
    return;
  }
  print_line(fmt::format(
      "lost: to synchronising {} of gradients; ring, naive: in one message, by algorithms of ours",
      model_size(gradient_bytes(plan.plan.workload))));
  print_line();
  print_verdict(study);
  for (const std::string& sentence : link_sentences(plan)) {
    print_line(sentence);
  }
  if (const std::string enough = enough_sentence(plan, 0); !enough.empty()) {
    print_line(enough);
  }
  std::vector<std::string> assumptions;
  std::vector<Remark> warnings;
  for (const std::size_t index : plan.shown) {
    const auto add = [&](const std::vector<std::string>& more) {
      assumptions.insert(assumptions.end(), more.begin(), more.end());
    };
    add(plan.estimates[index].assumptions);
    add(plan.offers[index].assumptions);
    for (const std::string& warning : warnings_of(plan.offers[index], plan.estimates[index].run)) {
      warnings.emplace_back(plan.offers[index].name, warning);
    }
  }
  print_assumed(assumptions);
  print_warnings(warnings, study.file);
  if (explained) {
    print_explanations(study);
  }
}

void print_synchronisation(const study::SynchronisationStudy& study, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_file(study.file);
    return;
  }
  std::vector<std::vector<std::string>> rows;
  std::vector<Remark> problems;
  std::vector<std::string> assumptions;
  std::vector<Remark> warnings;
  for (const std::size_t index : study.order) {
    const Offer& offer = study.offers[index];
    const SynchronisationTimes& times = study.times[index];
    if (!times.problem.empty()) {
      problems.emplace_back(offer.name, times.problem);
      continue;
    }
    rows.push_back({offer.name, link_words(offer), format(times.time.typical), time_range(times.time),
                    time_or_none(times.ring), time_or_none(times.naive), speedup(times.ring, times.naive),
                    times.limit});
    assumptions.insert(assumptions.end(), offer.assumptions.begin(), offer.assumptions.end());
    for (const std::string& warning : warnings_of(offer, std::nullopt)) {
      warnings.emplace_back(offer.name, warning);
    }
  }
  if (!rows.empty()) {
    print(table({"offer", "link", ">" + study.plan.algorithm, ">90 %", ">ring", ">naive", ">ring is",
                 "what limits it"},
                rows));
    print_line(fmt::format("of {} of gradients in one message; ring, naive: by algorithms of ours",
                           model_size(gradient_bytes(study.plan.workload))));
  }
  print_problems(problems, study.file);
  print_assumed(assumptions);
  print_warnings(warnings, study.file);
}

void print_written_plan(const std::filesystem::path& file, const std::vector<std::string>& offers,
                        const std::string& yaml, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    return;
  }
  print_line();
  std::string command = fmt::format("ringside plan {}", for_a_shell(file.string()));
  for (const std::string& listing : offers) {
    command += fmt::format(" --offers {}", for_a_shell(listing));
  }
  print_line(fmt::format("the same as a file, which says more: {}", command));
  print(yaml);
}

}  // namespace ringside::cli
