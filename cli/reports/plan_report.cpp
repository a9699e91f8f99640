// 400 lines: all tables, sentences and JSON of one command, which share their columns.
#include "cli/reports/plan_report.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/plan/plan_sentences.hpp"
#include "cli/reports/plan_brief.hpp"
#include "cli/reports/report.hpp"
#include "cli/reports/sweep_report.hpp"
#include "common/numbers.hpp"
#include "plots/charts/plan_charts.hpp"
#include "results/codec/record.hpp"

namespace ringside::cli {
namespace {

std::string interval(const Interval<Seconds>& range) {
  return fmt::format("{} – {}", format(range.low), format(range.high));
}

std::string money(double amount, const std::string& currency) {
  return fmt::format("{:.{}f} {}", amount, amount < 1 ? 3 : 2, currency);
}

std::string cost_text(const std::optional<Cost>& cost) {
  return cost ? money(cost->amount.typical, cost->currency) : std::string(kAbsent);
}

std::string cost_interval(const std::optional<Cost>& cost) {
  return cost ? fmt::format("{:.{}f} – {:.{}f}", cost->amount.low, cost->amount.low < 1 ? 3 : 2,
                            cost->amount.high, cost->amount.high < 1 ? 3 : 2)
              : std::string(kAbsent);
}

/// Texts about offers: each is said once, with the offers that it is about.
class OfferNotes {
 public:
  void add(const std::vector<std::string>& texts, const std::string& offer);
  /// Nothing where no text was added.
  void print(std::string_view title) const;

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<std::string>> offers_of_;
};

void OfferNotes::add(const std::vector<std::string>& texts, const std::string& offer) {
  for (const std::string& text : texts) {
    std::vector<std::string>& offers = offers_of_[text];
    if (offers.empty()) {
      order_.push_back(text);
    }
    if (std::find(offers.begin(), offers.end(), offer) == offers.end()) {
      offers.push_back(offer);
    }
  }
}

void OfferNotes::print(std::string_view title) const {
  constexpr std::size_t kMostNames = 3;
  if (order_.empty()) {
    return;
  }
  print_line();
  print_line(title);
  for (const std::string& text : order_) {
    std::vector<std::string> names = offers_of_.at(text);
    const std::size_t more = names.size() > kMostNames ? names.size() - kMostNames : 0;
    names.resize(names.size() - more);
    print_line(fmt::format("  {} [{}{}]", text, fmt::join(names, "; "),
                           more > 0 ? fmt::format("; {} more", more) : ""));
  }
}

// --- Tables ---------------------------------------------------------------------------------------------------------

std::string mark_of(const study::PlanEstimate& plan, std::size_t index) {
  return plan.ranking.recommended == index ? "→" : plan.ranking.pareto[index] ? "•" : "";
}

void print_offers(const study::PlanEstimate& plan) {
  const bool run = plan.plan.workload.samples > 0;
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t index : plan.shown) {
    const OfferEstimate& estimate = plan.estimates[index];
    const StepEstimate& step = *estimate.step;
    rows.push_back({mark_of(plan, index), plan.offers[index].name, std::to_string(step.gpus),
                    format(step.total.typical), interval(step.total), percent(step.exposed_share.typical),
                    percent(step.efficiency.typical), fmt::format("{:.0f}", step.samples_per_second.typical),
                    long_time(study::run_seconds(estimate)), cost_text(estimate.cost),
                    cost_interval(estimate.cost),
                    step.communication_dominates() ? "communication dominates" : ""});
  }
  const std::string of = run ? "" : " of 1 M samples";
  print(table({"", "offer", ">GPUs", ">step", ">90 %", ">exposed", ">efficiency", ">samples/s", ">time" + of,
               ">cost" + of, ">90 %", ""},
              rows));
  print_line("→ recommended   • nothing is both cheaper and faster");
}

/// The smallest size that is tried stands for all below it.
std::string ring_from(const Thresholds& found) {
  return !found.ring_from_bytes                     ? "never"
         : *found.ring_from_bytes == kSmallestTried ? fmt::format("≤ {}", format(kSmallestTried))
                                                    : format(*found.ring_from_bytes);
}

void print_thresholds(const study::PlanEstimate& plan) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t place = 0; place < plan.shown.size(); ++place) {
    const Offer& offer = plan.offers[plan.shown[place]];
    const Thresholds& found = plan.thresholds[place];
    if (offer.gpus < 2) {
      continue;
    }
    const auto rate = link_bandwidth(offer.machine);
    const auto bandwidth = [&](const std::optional<double>& factor) {
      return !factor ? std::string("none is enough")
             : rate  ? format(BytesPerSecond{*factor * rate->value})
                     : fmt::format("{:.2g} ×", *factor);
    };
    rows.push_back({offer.name, link_name(offer.machine), rate ? format(*rate) : std::string(kAbsent),
                    bandwidth(found.factor_for_10_percent), bandwidth(found.factor_for_5_percent),
                    found.accumulate_for_10_percent ? std::to_string(*found.accumulate_for_10_percent)
                                                    : std::string(kAbsent),
                    found.gpus_stop_paying ? fmt::format("{}", *found.gpus_stop_paying)
                                           : fmt::format("> {}", offer.gpus - 1),
                    ring_from(found), found.ring_from_gpus ? std::to_string(*found.ring_from_gpus) : "never",
                    plan.best_ways[place]});
  }
  if (rows.empty()) {
    return;
  }
  print_line();
  print_line(
      "what would be enough: bandwidth of a GPU's link for 10 % and 5 % exposed, or micro-batches per step "
      "for 10 "
      "%;");
  print_line(
      "GPUs up to which one more adds at least half of a GPU's speed; size and GPUs from which ring beats "
      "naive");
  print(table({"offer", "link", ">has", ">for 10 %", ">for 5 %", ">micro-batches", ">GPUs", ">ring from",
               ">ring from GPUs", "fastest way"},
              rows));
}

void print_unused(const study::PlanEstimate& plan) {
  constexpr std::size_t kMostShown = 10;
  std::map<std::string, std::vector<std::string>> by_problem;
  std::size_t count = 0;
  for (std::size_t index = 0; index < plan.offers.size(); ++index) {
    if (!plan.estimates[index].problem.empty()) {
      by_problem[plan.estimates[index].problem].push_back(plan.offers[index].name);
      ++count;
    }
  }
  if (count == 0) {
    return;
  }
  print_line();
  print_line(fmt::format("not used: {} of {} offers", count, plan.offers.size()));
  std::size_t lines = 0;
  for (const auto& [problem, names] : by_problem) {
    if (++lines > kMostShown) {
      print_line(
          fmt::format("  … and {} more reasons; all are in plan.jsonl", by_problem.size() - kMostShown));
      break;
    }
    print_line(fmt::format("  {}{}: {}", names.front(),
                           names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "", problem));
  }
}

void print_assumptions(const study::PlanEstimate& plan) {
  OfferNotes notes;
  for (const std::size_t index : plan.shown) {
    notes.add(plan.offers[index].assumptions, plan.offers[index].name);
    notes.add(plan.estimates[index].assumptions, plan.offers[index].name);
  }
  notes.print("assumed");
}

void print_warnings(const study::PlanEstimate& plan) {
  OfferNotes notes;
  for (std::size_t place = 0; place < plan.shown.size(); ++place) {
    const Offer& offer = plan.offers[plan.shown[place]];
    const OfferEstimate& estimate = plan.estimates[plan.shown[place]];
    notes.add(warnings_of(offer, estimate.run), offer.name);
    notes.add(study::idle_nics(estimate, plan.thresholds[place]), offer.name);
  }
  notes.print("warnings");
}

void print_dominated(const study::PlanEstimate& plan) {
  for (std::size_t place = 0; place < plan.shown.size(); ++place) {
    const std::size_t index = plan.shown[place];
    if (plan.estimates[index].step->communication_dominates()) {
      const std::string fix = remedy(plan.thresholds[place], plan.offers[index]);
      if (!fix.empty()) {
        print_line(fmt::format("  {}: {}", plan.offers[index].name, fix));
      }
    }
  }
}

// --- Charts ---------------------------------------------------------------------------------------------------------

Interval<double> seconds_of(const Interval<Seconds>& range) {
  return {.low = range.low.value, .typical = range.typical.value, .high = range.high.value};
}

plots::CostChart cost_chart(const study::PlanEstimate& plan) {
  constexpr std::size_t kMostPoints = 40;  // Among thousands the best tell enough.
  plots::CostChart chart;
  chart.of = plan.plan.workload.samples > 0 ? "the run" : "a million samples";
  for (const std::size_t index : plan.ranking.order) {
    const OfferEstimate& estimate = plan.estimates[index];
    if (!estimate.step || !estimate.cost || !(estimate.cost->amount.typical > 0) ||
        chart.points.size() == kMostPoints) {
      continue;
    }
    const double samples = study::run_seconds(estimate) / estimate.step->total.typical.value;
    const Interval<Seconds> time = samples * estimate.step->total;
    chart.currency = estimate.cost->currency;
    chart.points.push_back({.label = plan.offers[index].name,
                            .seconds = seconds_of(time),
                            .cost = estimate.cost->amount,
                            .pareto = plan.ranking.pareto[index],
                            .recommended = plan.ranking.recommended == index});
  }
  if (plan.plan.deadline) {
    chart.deadline = plan.plan.deadline->value;
  }
  if (plan.plan.budget) {
    chart.budget = plan.plan.budget->amount;
  }
  return chart;
}

std::vector<plots::StepBar> bars_of(const study::PlanEstimate& plan) {
  std::vector<plots::StepBar> bars;
  for (const std::size_t index : plan.shown) {
    const TrainingStep& step = plan.estimates[index].step->timeline;
    bars.push_back({.label = plan.offers[index].name,
                    .compute = (step.compute - step.hidden()).value,
                    .hidden = step.hidden().value,
                    .exposed = step.exposed.value,
                    .waiting = step.waiting.value,
                    .whole = seconds_of(plan.estimates[index].step->total)});
  }
  return bars;
}

std::string named_with_link(const Offer& offer) {
  const std::string link = link_name(offer.machine);
  return offer.name.find(link) == std::string::npos ? fmt::format("{} ({})", offer.name, link) : offer.name;
}

template <typename LabelOf>
std::vector<plots::Curve> curves_of(const study::PlanEstimate& plan,
                                    const std::vector<study::OfferCurve>& curves, const LabelOf& label_of) {
  std::vector<plots::Curve> drawn;
  for (const study::OfferCurve& curve : curves) {
    plots::Curve& next = drawn.emplace_back();
    next.label = label_of(plan.offers[curve.offer]);
    for (const auto& [x, y] : curve.points) {
      next.points.push_back({x, y});
    }
    if (curve.mark) {
      next.mark = plots::XY{curve.mark->first, curve.mark->second};
      next.mark_interval = plan.estimates[curve.offer].step->exposed_share;
    }
  }
  return drawn;
}

std::vector<plots::TimelineBar> timeline_bars(const TrainingStep& step, const Plan& plan) {
  const double backward_share =
      plan.workload.backward_over_forward / (1 + plan.workload.backward_over_forward);
  const int micro_batches = plan.synchronisation.accumulate;
  const Seconds each = (1.0 / micro_batches) * step.compute;
  std::vector<plots::TimelineBar> bars;
  for (int index = 0; index < micro_batches; ++index) {
    const Seconds start = index * each;
    const Seconds middle = start + (1 - backward_share) * each;
    const bool slowed = index == micro_batches - 1 && step.slowed.value > 0;
    bars.push_back(
        {.track = "compute", .start = start, .end = middle, .label = "forward", .kind = "forward pass"});
    bars.push_back({.track = "compute",
                    .start = middle,
                    .end = start + each + (slowed ? step.slowed : Seconds{}),
                    .label = "backward",
                    .kind = slowed ? "backward pass, slowed down by all_reduces" : "backward pass"});
  }
  for (std::size_t index = 0; index < step.buckets.size(); ++index) {
    const BucketTimes& bucket = step.buckets[index];
    const std::string label =
        fmt::format("{} · {:.3g} MB", index, static_cast<double>(bucket.bucket.bytes.value) / 1e6);
    if (bucket.start > bucket.ready) {
      bars.push_back({.track = "buckets",
                      .start = bucket.ready,
                      .end = bucket.start,
                      .label = label,
                      .kind = "waits for the links"});
    }
    bars.push_back({.track = "all_reduce",
                    .start = bucket.start,
                    .end = bucket.end,
                    .label = label,
                    .kind = "all_reduce"});
  }
  return bars;
}

std::vector<plots::Figure> figures_of(const study::PlanStudy& study, plots::ChartContext context) {
  const study::PlanEstimate& plan = study.estimate;
  std::vector<plots::Figure> figures = plots::cost_against_time(cost_chart(plan), context);
  const auto add_all = [&](std::vector<plots::Figure> more) {
    std::move(more.begin(), more.end(), std::back_inserter(figures));
  };
  add_all(plots::step_bars(bars_of(plan), context));
  add_all(plots::scaling_efficiency(
      curves_of(plan, study.scaling, [](const Offer& offer) { return offer.name; }), context));
  add_all(plots::exposed_against_bandwidth(curves_of(plan, study.bandwidth, named_with_link), context));
  if (study.drawn) {
    context.title = fmt::format("{}: one step on {}", plan.plan.name, plan.offers[*study.drawn].name);
    std::vector<plots::Figure> timeline =
        plots::timeline(timeline_bars(plan.estimates[*study.drawn].step->timeline, plan.plan), context);
    for (plots::Figure& figure : timeline) {
      figure.name = "plan_timeline";
    }
    add_all(std::move(timeline));
  }
  return figures;
}

/// The cells of one row about the best offer, for sweeps.
/// Time of the run, or of a million samples or a billion tokens where its length is not known.
double run_seconds(const OfferRecord& best) {
  return best.run                 ? best.run->typical
         : best.tokens_per_second ? 1e9 / best.tokens_per_second->typical
                                  : 1e6 / best.samples_per_second->typical;
}

std::vector<std::string> best_offer_cells(const OfferRecord& best) {
  if (!best.step) {
    return {fmt::format("none: {}", best.problem.value_or("")), "", "", "", "", "", ""};
  }
  const std::string step = format(Seconds{best.step->typical});
  const std::string exposed = percent(best.exposed->typical / best.step->typical);
  const std::string time = long_time(run_seconds(best));
  const std::string cost =
      best.cost ? money(best.cost->typical, best.currency.value_or("")) : std::string(kAbsent);
  if (best.sharding) {
    return {best.name,
            *best.sharding,
            step,
            exposed,
            fmt::format("{:.0f}", best.tokens_per_second->typical),
            time,
            cost};
  }
  return {best.name,
          step,
          exposed,
          percent(best.efficiency->typical),
          fmt::format("{:.0f}", best.samples_per_second->typical),
          time,
          cost};
}

/// `deadline=1h accumulate=4`.
std::string swept(const study::PlanSweep& sweep, const study::PlanSweepRow& row) {
  std::vector<std::string> parts;
  for (std::size_t index = 0; index < row.values.size(); ++index) {
    parts.push_back(fmt::format("{}={}", sweep.sweeps[index].key, row.values[index]));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

void print_json(const study::PlanSweep& sweep) {
  for (const study::PlanSweepRow& row : sweep.rows) {
    nlohmann::ordered_json line = nlohmann::ordered_json::parse(to_line(row.best));
    std::map<std::string, std::string> values;
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      values[sweep.sweeps[index].key] = row.values[index];
    }
    line["sweep"] = values;
    print_line(line.dump());
  }
}

}  // namespace

void print_plan(const study::PlanStudy& study, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_file(study.file);
    return;
  }
  print_offers(study.estimate);
  print_dominated(study.estimate);
  print_thresholds(study.estimate);
  print_unused(study.estimate);
  print_assumptions(study.estimate);
  print_warnings(study.estimate);
  print_explanations(study);
  print_line();
  print_verdict(study);
  print_line();
  print_line(fmt::format("results: {}", study.file.string()));
}

void draw_plan(const study::PlanStudy& study, const CommonOptions& common, Progress& progress) {
  const plots::ChartContext context = {.title = study.estimate.plan.name,
                                       .machine = "",
                                       .source = study.file.string(),
                                       .output_directory = study.directory};
  draw_charts(figures_of(study, context), context, common, progress);
}

void print_plan_sweep(const study::PlanSweep& sweep, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_json(sweep);
    return;
  }
  std::vector<std::string> header = sweep_columns(sweep.sweeps);
  const std::vector<std::string> cells =
      sweep.shards ? std::vector<std::string>{"best offer", "way", ">step", ">exposed", ">tokens/s"}
                   : std::vector<std::string>{"best offer", ">step", ">exposed", ">efficiency", ">samples/s"};
  header.insert(header.end(), cells.begin(), cells.end());
  const auto of_run = [&](const char* what) {
    const bool run = std::any_of(sweep.rows.begin(), sweep.rows.end(),
                                 [](const study::PlanSweepRow& row) { return row.best.run.has_value(); });
    return fmt::format("{}{}", what, run ? "" : sweep.shards ? " of 1 G tokens" : " of 1 M samples");
  };
  header.push_back(of_run(">time"));
  header.push_back(of_run(">cost"));
  std::vector<std::vector<std::string>> rows;
  OfferNotes none;
  OfferNotes notes;
  for (const study::PlanSweepRow& row : sweep.rows) {
    rows.push_back(row.values);
    std::vector<std::string> of_best = best_offer_cells(row.best);
    if (row.best.step && !row.why_none.empty()) {
      of_best.front() = fmt::format("({})", of_best.front());
      none.add({row.why_none}, swept(sweep, row));
    }
    rows.back().insert(rows.back().end(), of_best.begin(), of_best.end());
    notes.add(row.best.warnings, row.best.name);
    notes.add(row.idle_nics, row.best.name);
  }
  print(table(header, rows));
  if (std::any_of(sweep.sweeps.begin(), sweep.sweeps.end(),
                  [](const study::Sweep& one) { return one.key == "nodes" || one.key == "gpus_per_node"; })) {
    print_line("machines of another size are rented whole, at the same price of a GPU");
  }
  none.print("in brackets: not recommended");
  notes.print("warnings");
}

}  // namespace ringside::cli
