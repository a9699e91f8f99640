#include "cli/plan_report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/nic_sentences.hpp"
#include "analysis/plan_sentences.hpp"
#include "cli/job.hpp"
#include "cli/report.hpp"
#include "plots/plan_charts.hpp"
#include "results/journal.hpp"
#include "results/reader.hpp"

namespace ringside::cli {
namespace {

constexpr std::string_view kAbsent = "–";
constexpr std::size_t kMostCurves = 8;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string interval(const TimeRange& range) {
  return fmt::format("{} – {}", format(range.low), format(range.high));
}

std::string money(double amount, const std::string& currency) {
  return fmt::format("{:.{}f} {}", amount, amount < 1 ? 3 : 2, currency);
}

std::string cost_text(const std::optional<MoneyRange>& cost) {
  return cost ? money(cost->typical, cost->currency) : std::string(kAbsent);
}

std::string cost_interval(const std::optional<MoneyRange>& cost) {
  return cost ? fmt::format("{:.{}f} – {:.{}f}", cost->low, cost->low < 1 ? 3 : 2, cost->high,
                            cost->high < 1 ? 3 : 2)
              : std::string(kAbsent);
}

double run_seconds(const OfferEstimate& estimate) {
  return estimate.run ? estimate.run->typical.value : 1e6 / estimate.step->samples_per_second.typical;
}

// --- Records --------------------------------------------------------------------------------------------------------

RangeRecord record_of(const TimeRange& range) {
  return {.typical = range.typical.value, .low = range.low.value, .high = range.high.value};
}

RangeRecord record_of(const Share& share) {
  return {.typical = share.typical, .low = share.low, .high = share.high};
}

OfferRecord record_of(const PlanReport& report, std::size_t index) {
  const Offer& offer = report.offers[index];
  const OfferEstimate& estimate = report.estimates[index];
  OfferRecord record{.name = offer.name, .source = offer.source, .gpus = offer.gpus};
  if (offer.per_hour) {
    record.per_hour = offer.per_hour->amount;
    record.currency = offer.per_hour->currency;
  }
  if (!estimate.problem.empty()) {
    record.problem = estimate.problem;
  }
  if (estimate.gpu_memory) {
    record.memory = estimate.memory.total();
    record.gpu_memory = estimate.gpu_memory;
  }
  if (const auto& step = estimate.step) {
    record.algorithm = step->algorithm;
    record.nics = step->nics;
    record.batch = step->batch;
    record.step = record_of(step->total);
    record.compute = record_of(step->compute);
    record.communication = record_of(step->communication);
    record.exposed = record_of(step->exposed);
    record.waiting = record_of(step->waiting);
    record.efficiency = record_of(step->efficiency);
    record.samples_per_second = record_of(step->samples_per_second);
  }
  if (estimate.run) {
    record.run = record_of(*estimate.run);
  }
  if (estimate.cost) {
    record.cost = RangeRecord{estimate.cost->typical, estimate.cost->low, estimate.cost->high};
  }
  record.pareto = report.ranking.pareto[index];
  record.recommended = report.ranking.recommended == index;
  record.assumptions = offer.assumptions;
  record.assumptions.insert(record.assumptions.end(), estimate.assumptions.begin(),
                            estimate.assumptions.end());
  record.warnings = offer.warnings;
  return record;
}

void add(const Thresholds& found, OfferRecord& record) {
  record.bandwidth_factor_for_5_percent = found.factor_for_5_percent;
  record.bandwidth_factor_for_10_percent = found.factor_for_10_percent;
  record.gpus_stop_paying = found.gpus_stop_paying;
  record.ring_from_bytes = found.ring_from_bytes;
  record.ring_from_gpus = found.ring_from_gpus;
}

std::filesystem::path write_records(const PlanReport& report, const std::filesystem::path& directory,
                                    const CommonOptions& common) {
  RunHeader header;
  header.version = RINGSIDE_VERSION;
  header.command = common.command_line;
  header.scenario = {
      .name = report.plan.name, .file = report.plan.file.string(), .text = read_text(report.plan.file)};
  header.started = timestamp(std::chrono::system_clock::now());
  header.seed = common.seed;
  Journal journal = Journal::create(directory / "plan.jsonl", header);
  for (const std::size_t index : report.ranking.order) {
    OfferRecord record = record_of(report, index);
    const auto shown = std::find(report.shown.begin(), report.shown.end(), index);
    if (shown != report.shown.end()) {
      const auto place = static_cast<std::size_t>(shown - report.shown.begin());
      add(report.thresholds[place], record);
      if (!report.best_ways[place].empty()) {
        record.best_way = report.best_ways[place];
      }
    }
    journal.append(record);
  }
  return journal.file();
}

// --- Tables ---------------------------------------------------------------------------------------------------------

std::string mark_of(const PlanReport& report, std::size_t index) {
  return report.ranking.recommended == index ? "→" : report.ranking.pareto[index] ? "•" : "";
}

void print_offers(const PlanReport& report) {
  const bool run = report.plan.workload.samples > 0;
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t index : report.shown) {
    const OfferEstimate& estimate = report.estimates[index];
    const StepEstimate& step = *estimate.step;
    rows.push_back({mark_of(report, index), report.offers[index].name, std::to_string(step.gpus),
                    format(step.total.typical), interval(step.total), percent(step.exposed_share.typical),
                    percent(step.efficiency.typical), fmt::format("{:.0f}", step.samples_per_second.typical),
                    long_time(run_seconds(estimate)), cost_text(estimate.cost), cost_interval(estimate.cost),
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

void print_thresholds(const PlanReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t place = 0; place < report.shown.size(); ++place) {
    const Offer& offer = report.offers[report.shown[place]];
    const Thresholds& found = report.thresholds[place];
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
                    report.best_ways[place]});
  }
  if (rows.empty()) {
    return;
  }
  print_line();
  print_line(
      "what would be enough: bandwidth of a GPU's link for 10 % and 5 % exposed, or passes per step for 10 "
      "%;");
  print_line(
      "GPUs up to which one more adds at least half of a GPU's speed; size and GPUs from which ring beats "
      "naive");
  print(table({"offer", "link", ">has", ">for 10 %", ">for 5 %", ">passes", ">GPUs", ">ring from",
               ">ring from GPUs", "fastest way"},
              rows));
}

void print_unused(const PlanReport& report) {
  constexpr std::size_t kMostShown = 10;
  std::map<std::string, std::vector<std::string>> by_problem;
  std::size_t count = 0;
  for (std::size_t index = 0; index < report.offers.size(); ++index) {
    if (!report.estimates[index].problem.empty()) {
      by_problem[report.estimates[index].problem].push_back(report.offers[index].name);
      ++count;
    }
  }
  if (count == 0) {
    return;
  }
  print_line();
  print_line(fmt::format("not used: {} of {} offers", count, report.offers.size()));
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

/// Which algorithms leave NICs of an offer idle: the one that was priced, and the ring that is compared with naive.
std::vector<std::string> idle_nics(const OfferEstimate& estimate, const Thresholds& found) {
  std::vector<AlgorithmNics> predicted;
  if (estimate.step && estimate.step->nics) {
    predicted.push_back({estimate.step->algorithm, *estimate.step->nics});
  }
  if (found.ring_nics) {
    predicted.push_back({"ring", *found.ring_nics});
  }
  std::vector<std::string> sentences = nic_sentences(predicted);
  for (std::string& sentence : sentences) {
    sentence += '.';
  }
  return sentences;
}

void print_assumptions(const PlanReport& report) {
  OfferNotes notes;
  for (const std::size_t index : report.shown) {
    notes.add(report.offers[index].assumptions, report.offers[index].name);
    notes.add(report.estimates[index].assumptions, report.offers[index].name);
  }
  notes.print("assumed");
}

void print_warnings(const PlanReport& report) {
  OfferNotes notes;
  for (std::size_t place = 0; place < report.shown.size(); ++place) {
    const Offer& offer = report.offers[report.shown[place]];
    const OfferEstimate& estimate = report.estimates[report.shown[place]];
    notes.add(offer.warnings, offer.name);
    if (offer.available && estimate.run && estimate.run->typical > *offer.available) {
      notes.add({fmt::format("It can be rented for {}, less than the run takes.",
                             long_time(offer.available->value))},
                offer.name);
    }
    notes.add(idle_nics(estimate, report.thresholds[place]), offer.name);
  }
  notes.print("mind");
}

void print_dominated(const PlanReport& report) {
  for (std::size_t place = 0; place < report.shown.size(); ++place) {
    const std::size_t index = report.shown[place];
    if (report.estimates[index].step->communication_dominates()) {
      const std::string fix = remedy(report.thresholds[place], report.offers[index]);
      if (!fix.empty()) {
        print_line(fmt::format("  {}: {}", report.offers[index].name, fix));
      }
    }
  }
}

/// Places in `shown` of the offers to explain.
std::vector<std::size_t> explained(const PlanReport& report, const std::vector<std::string>& parts) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < report.shown.size(); ++place) {
    const std::size_t index = report.shown[place];
    const std::string& name = report.offers[index].name;
    const bool asked = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return name.find(part) != std::string::npos;
    });
    if (parts.empty() ? index == 0 || index == report.ranking.recommended : asked) {
      places.push_back(place);
    }
  }
  // The question that the plan puts first is answered first.
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return report.shown[a] < report.shown[b]; });
  return places;
}

void print_words(const PlanReport& report, Planner& planner, const std::vector<std::string>& parts) {
  for (const std::size_t place : explained(report, parts)) {
    const std::size_t index = report.shown[place];
    print_line();
    for (const std::string& sentence : explain(planner, report.plan, report.offers[index],
                                               report.estimates[index], report.thresholds[place])) {
      print_line(sentence);
    }
  }
  print_line();
  print_line(report.ranking.reason);
}

// --- Charts ---------------------------------------------------------------------------------------------------------

plots::RangeOf range_of(const RangeRecord& range) { return {range.typical, range.low, range.high}; }

plots::CostChart cost_chart(const PlanReport& report) {
  constexpr std::size_t kMostPoints = 40;  // Of thousands the best tell enough.
  plots::CostChart chart;
  chart.of = report.plan.workload.samples > 0 ? "the run" : "a million samples";
  for (const std::size_t index : report.ranking.order) {
    const OfferEstimate& estimate = report.estimates[index];
    if (!estimate.step || !estimate.cost || !(estimate.cost->typical > 0) ||
        chart.points.size() == kMostPoints) {
      continue;
    }
    const double samples = run_seconds(estimate) / estimate.step->total.typical.value;
    const TimeRange time = samples * estimate.step->total;
    chart.currency = estimate.cost->currency;
    chart.points.push_back({.label = report.offers[index].name,
                            .seconds = range_of(record_of(time)),
                            .cost = {estimate.cost->typical, estimate.cost->low, estimate.cost->high},
                            .pareto = report.ranking.pareto[index],
                            .recommended = report.ranking.recommended == index});
  }
  if (report.plan.deadline) {
    chart.deadline = report.plan.deadline->value;
  }
  if (report.plan.budget) {
    chart.budget = report.plan.budget->amount;
  }
  return chart;
}

std::vector<plots::StepBar> bars_of(const PlanReport& report) {
  std::vector<plots::StepBar> bars;
  for (const std::size_t index : report.shown) {
    const Step& step = report.estimates[index].step->timeline;
    bars.push_back({.label = report.offers[index].name,
                    .compute = (step.compute - step.hidden()).value,
                    .hidden = step.hidden().value,
                    .exposed = step.exposed.value,
                    .waiting = step.waiting.value});
  }
  return bars;
}

/// The best offers with several GPUs, of each machine only one.
std::vector<std::size_t> offers_with_curves(const PlanReport& report) {
  std::vector<std::size_t> indices;
  for (const std::size_t index : report.shown) {
    if (report.offers[index].gpus > 1 && indices.size() < kMostCurves) {
      indices.push_back(index);
    }
  }
  return indices;
}

std::vector<plots::Curve> scaling_curves(const PlanReport& report, Planner& planner) {
  constexpr int kEachUpTo = 8;
  std::vector<plots::Curve> curves;
  for (const std::size_t index : offers_with_curves(report)) {
    const Offer& offer = report.offers[index];
    plots::Curve curve{.label = offer.name, .points = {}};
    std::vector<int> counts;
    for (int gpus = 1; gpus < offer.gpus; gpus += gpus < kEachUpTo ? 1 : gpus) {
      counts.push_back(gpus);
    }
    counts.push_back(offer.gpus);
    for (const int gpus : counts) {
      if (const auto step = planner.vary(offer, {.gpus = gpus})) {
        curve.points.push_back({static_cast<double>(gpus), step->compute.value / step->total.value});
      }
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::string named_with_link(const Offer& offer) {
  const std::string link = link_name(offer.machine);
  return offer.name.find(link) == std::string::npos ? fmt::format("{} ({})", offer.name, link) : offer.name;
}

std::vector<plots::Curve> bandwidth_curves(const PlanReport& report, Planner& planner) {
  constexpr int kPoints = 49;
  std::vector<plots::Curve> curves;
  for (const std::size_t index : offers_with_curves(report)) {
    const Offer& offer = report.offers[index];
    const auto rate = link_bandwidth(offer.machine);
    if (!rate) {
      continue;
    }
    plots::Curve curve{.label = named_with_link(offer), .points = {}};
    constexpr double kSlowest = 1e9;
    constexpr double kFastest = 1e12;
    for (int point = 0; point < kPoints; ++point) {
      const double bandwidth = kSlowest * std::pow(kFastest / kSlowest, point / (kPoints - 1.0));
      if (const auto step = planner.vary(offer, {.bandwidth_factor = bandwidth / rate->value})) {
        curve.points.push_back({bandwidth, step->exposed.value / step->total.value});
      }
    }
    const StepEstimate& step = *report.estimates[index].step;
    if (rate->value >= kSlowest && rate->value <= kFastest) {
      curve.mark = plots::XY{rate->value, step.exposed_share.typical};
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<plots::TimelineBar> timeline_bars(const Step& step, const Plan& plan) {
  const double backward_share =
      plan.workload.backward_over_forward / (1 + plan.workload.backward_over_forward);
  const int passes = plan.synchronisation.accumulate;
  const Seconds pass = (1.0 / passes) * step.compute;
  std::vector<plots::TimelineBar> bars;
  for (int index = 0; index < passes; ++index) {
    const Seconds start = index * pass;
    const Seconds middle = start + (1 - backward_share) * pass;
    bars.push_back(
        {.track = "compute", .start = start, .end = middle, .label = "forward", .kind = "forward pass"});
    bars.push_back({.track = "compute",
                    .start = middle,
                    .end = start + pass,
                    .label = "backward",
                    .kind = "backward pass"});
  }
  for (std::size_t index = 0; index < step.buckets.size(); ++index) {
    const BucketTimes& bucket = step.buckets[index];
    const std::string label = fmt::format("{} · {}", index, format(bucket.bucket.bytes));
    bars.push_back({.track = "buckets",
                    .start = bucket.ready,
                    .end = std::max(bucket.ready, bucket.start),
                    .label = label,
                    .kind = "waits for the links"});
    bars.push_back({.track = "all_reduce",
                    .start = bucket.start,
                    .end = bucket.end,
                    .label = label,
                    .kind = "all_reduce"});
  }
  return bars;
}

std::vector<plots::Figure> figures_of(const PlanReport& report, Planner& planner,
                                      plots::ChartContext context) {
  std::vector<plots::Figure> figures = plots::cost_against_time(cost_chart(report), context);
  const auto add_all = [&](std::vector<plots::Figure> more) {
    std::move(more.begin(), more.end(), std::back_inserter(figures));
  };
  add_all(plots::step_bars(bars_of(report), context));
  add_all(plots::scaling_efficiency(scaling_curves(report, planner), context));
  add_all(plots::exposed_against_bandwidth(bandwidth_curves(report, planner), context));
  if (!report.shown.empty()) {
    const std::vector<std::size_t> places = explained(report, {});
    const std::size_t index = report.shown[places.empty() ? 0 : places.front()];
    context.title = fmt::format("{}: one step on {}", report.plan.name, report.offers[index].name);
    std::vector<plots::Figure> timeline =
        plots::timeline(timeline_bars(report.estimates[index].step->timeline, report.plan), context);
    for (plots::Figure& figure : timeline) {
      figure.name = "plan_timeline";
    }
    add_all(std::move(timeline));
  }
  return figures;
}

std::size_t best_offer(const PlanReport& report) {
  return report.ranking.recommended.value_or(report.ranking.order.front());
}

}  // namespace

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

void print_plan(const PlanReport& report, Planner& planner, const PlanOutput& output,
                const CommonOptions& common, Progress& progress) {
  const std::filesystem::path file = write_records(report, output.directory, common);
  if (common.format == OutputFormat::json) {
    print_file(file);
  } else {
    print_offers(report);
    print_dominated(report);
    print_thresholds(report);
    print_unused(report);
    print_assumptions(report);
    print_warnings(report);
    print_words(report, planner, output.explained);
    print_line();
    print_line(fmt::format("results: {}", file.string()));
  }
  if (output.charts) {
    const plots::ChartContext context = {.title = report.plan.name,
                                         .machine = "",
                                         .source = file.string(),
                                         .output_directory = output.directory};
    draw_charts(figures_of(report, planner, context), context, common, progress);
  }
}

std::vector<std::string> best_offer_header() {
  return {"best offer", ">step", ">exposed", ">efficiency", ">samples/s", ">time", ">cost"};
}

std::string best_offer_line(const PlanReport& report, const std::map<std::string, std::string>& values) {
  nlohmann::ordered_json line = nlohmann::ordered_json::parse(to_line(record_of(report, best_offer(report))));
  line["sweep"] = values;
  return line.dump();
}

void add_best_offer_warnings(const PlanReport& report, OfferNotes& notes) {
  const std::size_t best = best_offer(report);
  notes.add(idle_nics(report.estimates[best], {}), report.offers[best].name);
}

std::vector<std::string> best_offer_cells(const PlanReport& report) {
  const std::size_t best = best_offer(report);
  const OfferEstimate& estimate = report.estimates[best];
  if (!estimate.step) {
    return {fmt::format("none: {}", estimate.problem), "", "", "", "", "", ""};
  }
  const StepEstimate& step = *estimate.step;
  return {report.offers[best].name,
          format(step.total.typical),
          percent(step.exposed_share.typical),
          percent(step.efficiency.typical),
          fmt::format("{:.0f}", step.samples_per_second.typical),
          long_time(run_seconds(estimate)),
          cost_text(estimate.cost)};
}

}  // namespace ringside::cli
