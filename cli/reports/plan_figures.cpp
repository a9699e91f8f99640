#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/plan/links.hpp"
#include "cli/reports/plan_report.hpp"
#include "cli/reports/report.hpp"
#include "plots/charts/plan_charts.hpp"

namespace ringside::cli {
namespace {

plots::CostChart cost_chart(const study::PlanStudy& study) {
  constexpr std::size_t kMostPoints = 40;  // Among thousands the best tell enough.
  plots::CostChart chart;
  const Ranked& ranked = study.ranked;
  chart.of = ranked.plan.workload.samples > 0 ? "the run" : "a million samples";
  for (const std::size_t index : ranked.order) {
    const PlannedStep& step = ranked.candidates[index].step;
    if (!step.cost || !(step.cost->amount.typical > 0) || chart.points.size() == kMostPoints) {
      continue;
    }
    const double steps = run_seconds(step) / step.total.typical.value;
    chart.currency = step.cost->currency;
    chart.points.push_back({.label = ranked.offer_of(index).name,
                            .seconds = values_of(steps * step.total),
                            .cost = step.cost->amount,
                            .pareto = ranked.pareto[index],
                            .recommended = ranked.recommended == index && ranked.tied.empty(),
                            .tied = ranked.is_tied(index)});
  }
  if (ranked.plan.deadline) {
    chart.deadline = ranked.plan.deadline->value;
  }
  if (ranked.plan.budget) {
    chart.budget = ranked.plan.budget->amount;
  }
  return chart;
}

std::vector<plots::StepBar> bars_of(const study::PlanStudy& study) {
  std::vector<plots::StepBar> bars;
  for (const study::ShownOffer& shown : study.shown) {
    const PlannedStep& all = study.ranked.candidates[shown.candidate].step;
    const TrainingStep& step = all.timeline;
    bars.push_back({.label = study.ranked.offer_of(shown.candidate).name,
                    .compute = (step.compute - step.hidden()).value,
                    .hidden = step.hidden().value,
                    .exposed = step.exposed.value,
                    .waiting = step.waiting.value,
                    .whole = values_of(all.total)});
  }
  return bars;
}

std::string named_with_link(const Offer& offer) {
  const std::string link = link_name(offer.machine);
  return offer.name.find(link) == std::string::npos ? fmt::format("{} ({})", offer.name, link) : offer.name;
}

template <typename LabelOf>
std::vector<plots::Curve> curves_of(const study::PlanStudy& study,
                                    const std::vector<study::OfferCurve>& curves, const LabelOf& label_of) {
  std::vector<plots::Curve> drawn;
  for (const study::OfferCurve& curve : curves) {
    plots::Curve& next = drawn.emplace_back();
    next.label = label_of(study.ranked.offer_of(curve.candidate));
    for (const auto& [x, y] : curve.points) {
      next.points.push_back({x, y});
    }
    if (curve.mark) {
      next.mark = plots::XY{curve.mark->first, curve.mark->second};
      next.mark_interval = study.ranked.candidates[curve.candidate].step.exposed_share;
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
  std::vector<plots::Figure> figures = plots::cost_against_time(cost_chart(study), context);
  const auto add_all = [&](std::vector<plots::Figure> more) {
    std::move(more.begin(), more.end(), std::back_inserter(figures));
  };
  add_all(plots::step_bars(bars_of(study), context));
  add_all(plots::scaling_efficiency(
      curves_of(study, study.scaling, [](const Offer& offer) { return offer.name; }), context));
  add_all(plots::exposed_against_bandwidth(curves_of(study, study.bandwidth, named_with_link), context));
  if (study.drawn) {
    context.title =
        fmt::format("{}: one step on {}", study.ranked.plan.name, study.ranked.offer_of(*study.drawn).name);
    std::vector<plots::Figure> timeline = plots::timelines(
        {{.title = "",
          .bars = timeline_bars(study.ranked.candidates[*study.drawn].step.timeline, study.ranked.plan)}},
        context);
    for (plots::Figure& figure : timeline) {
      figure.name = "plan_timeline";
    }
    add_all(std::move(timeline));
  }
  return figures;
}

}  // namespace

std::vector<plots::HtmlCurves> plan_curves(const study::PlanStudy& study) {
  return {{.title = "Lost over bandwidth",
           .x = "bandwidth of a GPU's link",
           .y = "Share of a step lost",
           .x_text = [](double rate) { return format(BytesPerSecond{rate}); },
           .curves = curves_of(study, study.bandwidth, named_with_link)},
          {.title = "Efficiency over GPUs",
           .x = "GPUs",
           .y = "Share of perfect scaling",
           .x_text = [](double gpus) { return fmt::format("{:.0f}", gpus); },
           .curves = curves_of(study, study.scaling, [](const Offer& offer) { return offer.name; })}};
}

void draw_plan(const study::PlanStudy& study, const CommonOptions& common, Progress& progress) {
  const plots::ChartContext context = {.title = study.ranked.plan.name,
                                       .source = study.file.string(),
                                       .output_directory = study.directory,
                                       .size = common.chart_size};
  draw_charts(figures_of(study, context), context, common, progress);
}

}  // namespace ringside::cli
