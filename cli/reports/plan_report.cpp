#include "cli/reports/plan_report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/plan/links.hpp"
#include "analysis/plan/plan_sentences.hpp"
#include "analysis/plan/verdict.hpp"
#include "cli/reports/offer_remarks.hpp"
#include "cli/reports/plan_tables.hpp"
#include "common/mapped.hpp"

namespace ringside::cli {
namespace {

// --- Sentences ---------------------------------------------------------------------------------------------

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

std::string from_to(const Range& range, double factor, int digits, const char* unit) {
  const std::string low = fmt::format("{:.{}f}", factor * range.low, digits);
  const std::string high = fmt::format("{:.{}f}", factor * range.high, digits);
  return low == high ? low + unit : fmt::format("{} to {}{}", low, high, unit);
}

/// What a kind of link does to steps.
struct LinkFacts {
  Range typical;
  Range ends;
  Range ring;
};

std::vector<std::string> link_sentences(const study::PlanStudy& study) {
  std::map<std::string, LinkFacts> by_link;
  std::vector<std::string> order;
  for (const study::ShownOffer& shown : study.shown) {
    const Offer& offer = study.ranked.offer_of(shown.candidate);
    if (offer.gpus < 2) {
      continue;
    }
    const std::string link = link_words(offer.machine);
    if (!by_link.contains(link)) {
      order.push_back(link);
    }
    LinkFacts& facts = by_link[link];
    const Interval<double>& share = study.ranked.candidates[shown.candidate].step.exposed_share;
    facts.typical.add(share.typical);
    facts.ends.add(share.low);
    facts.ends.add(share.high);
    const Thresholds& found = shown.thresholds;
    if (found.ring && found.naive) {
      facts.ring.add(found.naive->value / found.ring->value);
    }
  }
  std::vector<std::string> sentences;
  for (const std::string& link : order) {
    const LinkFacts& facts = by_link.at(link);
    const bool on_some = facts.typical.low <= kBottleneck && facts.typical.high > kBottleneck;
    const std::string verdict =
        bottleneck_words({.low = facts.ends.low, .typical = facts.typical.high, .high = facts.ends.high}) +
        (on_some ? " on some" : "");
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

std::string enough_sentence(const study::PlanStudy& study) {
  const Offer& offer = study.ranked.offer_of(study.shown.front().candidate);
  const Thresholds& found = study.shown.front().thresholds;
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

// --- What is said of offers --------------------------------------------------------------------------------

std::vector<Remark> problems_of(const Ranked& ranked) {
  std::vector<Remark> problems;
  for (const auto& [offer, step] : ranked.candidates) {
    if (!step.usable()) {
      problems.push_back({ranked.offers[offer].name, step.problem});
    }
  }
  return problems;
}

/// Candidates whose numbers are printed, best first.
std::vector<std::size_t> printed_of(const study::PlanStudy& study, std::size_t top) {
  std::vector<std::size_t> printed;
  if (study.ranked.plan.shards()) {
    printed = study.ranked.order;
    printed.resize(std::min(printed.size(), top));
    return printed;
  }
  if (computes(study.ranked.plan.workload)) {
    return mapped(study.shown, &study::ShownOffer::candidate);
  }
  std::ranges::copy_if(study.ranked.order, std::back_inserter(printed),
                       [&](std::size_t index) { return study.ranked.candidates[index].step.usable(); });
  return printed;
}

void print_explanations(const study::PlanStudy& study) {
  for (const std::vector<std::string>& sentences : study.explanations) {
    print_line();
    print_lines(sentences);
  }
}

// --- What is explained -------------------------------------------------------------------------------------

void print_remedies(const study::PlanStudy& study) {
  for (const study::ShownOffer& shown : study.shown) {
    const Offer& offer = study.ranked.offer_of(shown.candidate);
    const std::string fix = remedy(shown.thresholds, offer);
    if (study.ranked.candidates[shown.candidate].step.exposed_share.typical > kBottleneck && !fix.empty()) {
      print_line("  {}: {}", offer.name, fix);
    }
  }
}

void print_thresholds(const study::PlanStudy& study) {
  const TextTable thresholds = thresholds_table(study);
  if (thresholds.rows.empty()) {
    return;
  }
  print_line();
  print_line("needed: bandwidth of a GPU's link for 10 % and 5 % lost, or micro-batches per step for 10 %;");
  print_line(
      "GPUs up to which one more adds at least half of a GPU's speed; size and GPUs from which ring beats "
      "naive");
  print_table(thresholds);
}

// --- One screen --------------------------------------------------------------------------------------------

void print_problems(const study::PlanStudy& study) {
  constexpr std::size_t kMostReasons = 4;
  const std::vector<SharedRemark> reasons = shared(problems_of(study.ranked));
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    print_line("not used: {}: {}", reasons[i].named(), reasons[i].sentence);
  }
  if (reasons.size() > kMostReasons) {
    print_line("not used: offers with {} more reasons are in {}", reasons.size() - kMostReasons,
               study.file.string());
  }
}

/// Three lines; all where they are to be explained.
void print_assumed(const std::vector<std::string>& assumptions, bool explained, const std::string& file) {
  const std::vector<std::string> each = distinct(assumptions);
  constexpr std::size_t kMost = 3;
  print_first("assumed", each, explained ? each.size() : kMost, file);
}

/// Four lines, each with the offers of which it is said.
void print_shared(std::string_view title, const std::vector<Remark>& remarks, const std::string& file) {
  constexpr std::size_t kMost = 4;
  const std::vector<std::string> sentences = mapped(shared(remarks), [](const SharedRemark& remark) {
    return fmt::format("{}: {}", remark.named(), remark.sentence);
  });
  print_first(title, sentences, kMost, file);
}

/// What is assumed and to be known of what is printed.
void print_remarks(const study::PlanStudy& study, const PlanView& view) {
  std::vector<std::string> assumptions;
  std::vector<Remark> warnings;
  for (const std::size_t index : printed_of(study, view.top)) {
    const Offer& offer = study.ranked.offer_of(index);
    const PlannedStep& step = study.ranked.candidates[index].step;
    assumptions.insert(assumptions.end(), step.assumptions.begin(), step.assumptions.end());
    assumptions.insert(assumptions.end(), offer.assumptions.begin(), offer.assumptions.end());
    add_remarks(offer.name, warnings_of(offer, step.run), warnings);
  }
  for (const study::ShownOffer& shown : study.shown) {
    add_remarks(study.ranked.offer_of(shown.candidate).name,
                study::idle_nics(study.ranked.candidates[shown.candidate].step, shown.thresholds), warnings);
  }
  print_assumed(assumptions, view.explained, study.file.string());
  print_shared("to know", warnings, study.file.string());
}

/// What the marks of a table mean; empty where there are none.
std::string legend_of(const Ranked& ranked) {
  std::vector<std::string> marks;
  if (ranked.recommended) {
    marks.emplace_back(ranked.tied.empty() ? "→ recommended" : "≈ tie");
  }
  if (std::ranges::find(ranked.pareto, true) != ranked.pareto.end()) {
    marks.emplace_back("• no offer is both cheaper and faster");
  }
  return fmt::format("{}", fmt::join(marks, "   "));
}

void print_more(std::size_t shown, std::size_t all, const std::string& file) {
  if (shown < all) {
    print_line("{} more are in {} (--top {} shows them)", all - shown, file, all);
  }
}

void print_buckets(const study::PlanStudy& study, const PlanView& view) {
  const Ranked& ranked = study.ranked;
  print_line(workload_sentence(ranked.plan));
  if (study.shown.empty()) {
    print_problems(study);
    return;
  }
  print_table(plan_table(study, view.top));
  const auto usable =
      std::ranges::count_if(ranked.candidates, [](const RankedStep& one) { return one.step.usable(); });
  print_more(view.top, static_cast<std::size_t>(usable), study.file.string());
  print_line(legend_of(ranked));
  print_line(
      "lost: share of a step, to synchronising {}; ring, naive: our own algorithms, all in one message",
      model_size(gradient_bytes(ranked.plan.workload)));
  print_problems(study);
  print_line();
  print_lines(verdict(ranked));
  print_lines(next_steps(ranked));
  constexpr std::size_t kMostLinks = 4;
  std::vector<std::string> links = link_sentences(study);
  links.resize(std::min(links.size(), kMostLinks));
  print_lines(links);
  if (const std::string enough = enough_sentence(study); !enough.empty()) {
    print_line(enough);
  }
  print_remarks(study, view);
  if (view.explained) {
    print_remedies(study);
    print_thresholds(study);
    print_explanations(study);
  }
}

void print_gradients(const study::PlanStudy& study, const PlanView& view) {
  if (const TextTable shown = plan_table(study, view.top); !shown.rows.empty()) {
    print_table(shown);
    print_line(workload_sentence(study.ranked.plan));
  }
  print_problems(study);
  print_remarks(study, {.explained = false, .top = view.top});
}

// --- A model that is spread --------------------------------------------------------------------------------

void print_layouts(const study::PlanStudy& study, const PlanView& view) {
  const Ranked& ranked = study.ranked;
  print_line(workload_sentence(ranked.plan));
  if (!ranked.instead.empty()) {
    print_line(ranked.instead);
  }
  print_table(plan_table(study, view.top));
  print_more(view.top, ranked.order.size(), study.file.string());
  std::vector<Remark> problems;
  for (const std::size_t index : ranked.order) {
    const PlannedStep& step = ranked.candidates[index].step;
    if (!step.usable()) {
      problems.push_back(
          {fmt::format("{}, {}", ranked.offer_of(index).name, describe(*step.layout)), step.problem});
    }
  }
  if (const std::string legend = legend_of(ranked); !legend.empty()) {
    print_line(legend);
  }
  print_line("fits: the largest micro-batch; exposed: what communication adds to the step");
  print_shared("not used", problems, study.file.string());
  print_line();
  print_lines(verdict(ranked));
  print_lines(next_steps(ranked));
  const auto adapters = [](const RankedStep& one) { return one.step.layout->adapters != Adapters::none; };
  if (std::ranges::any_of(ranked.candidates, adapters) && !std::ranges::all_of(ranked.candidates, adapters)) {
    print_line(
        "lora and qlora train small matrices beside frozen weights: the same tokens teach the model less.");
  }
  print_remarks(study, view);
}

}  // namespace

void print_plan(const study::PlanStudy& study, const PlanView& view, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_file(study.file);
  } else if (study.ranked.plan.shards()) {
    print_layouts(study, view);
  } else if (!computes(study.ranked.plan.workload)) {
    print_gradients(study, view);
  } else {
    print_buckets(study, view);
  }
}

void print_where(const study::PlanStudy& study, bool written, const std::vector<std::string>& listings,
                 const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    return;
  }
  print_line();
  if (written) {
    std::string command = fmt::format("ringside plan {}", for_a_shell(study.ranked.plan.file.string()));
    for (const std::string& listing : listings) {
      command += fmt::format(" --offers {}", for_a_shell(listing));
    }
    print_line("the same from a file: {}", command);
  }
  print_line("results: {}", study.file.string());
}

}  // namespace ringside::cli
