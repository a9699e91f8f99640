#include "cli/reports/plan_tables.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "analysis/plan/links.hpp"
#include "analysis/plan/plan_sentences.hpp"
#include "cli/console.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside::cli {
namespace {

/// What a row is about.
struct OfferRow {
  const Ranked* ranked = nullptr;
  std::size_t candidate = 0;
  const study::ShownOffer* shown = nullptr;

  const Offer& offer() const { return ranked->offer_of(candidate); }
  const PlannedStep& step() const { return ranked->candidates[candidate].step; }
};

using OfferColumn = Column<OfferRow>;

std::vector<OfferRow> shown_rows(const study::PlanStudy& study) {
  return mapped(study.shown, [&](const study::ShownOffer& shown) {
    return OfferRow{&study.ranked, shown.candidate, &shown};
  });
}

/// Whether the length of the run is known.
bool is_run(const std::vector<OfferRow>& rows) { return rows.front().ranked->plan.workload.samples > 0; }

std::string to_text(int number) { return std::to_string(number); }

std::string ends(const Interval<Seconds>& range) {
  return fmt::format("{} – {}", format(range.low), format(range.high));
}

OfferColumn step_column(const std::string& header, std::function<std::string(const PlannedStep&)> cell) {
  return {header, [cell = std::move(cell)](const OfferRow& row) { return cell(row.step()); }};
}

OfferColumn mark_column() {
  return {"", [](const OfferRow& row) -> std::string {
            return row.ranked->is_tied(row.candidate)         ? "≈"
                   : row.ranked->recommended == row.candidate ? "→"
                   : row.ranked->pareto[row.candidate]        ? "•"
                                                              : "";
          }};
}

OfferColumn offer_column() {
  return {"offer", [](const OfferRow& row) { return row.offer().name; }};
}

OfferColumn total_column() {
  return step_column(">step", [](const PlannedStep& step) { return format(step.total.typical); });
}

OfferColumn total_ends_column() {
  return step_column(">step, 90 %", [](const PlannedStep& step) { return ends(step.total); });
}

/// What the run takes; of an unknown length, `unit` of it.
OfferColumn run_column(const std::vector<OfferRow>& rows, const char* unit) {
  return step_column(is_run(rows) ? ">run" : fmt::format(">{}", unit),
                     [](const PlannedStep& step) { return long_time(run_seconds(step)); });
}

using AmountText = std::function<std::string(double)>;

/// Runs of models that are spread cost hundreds.
std::string large_amount(double amount) { return fmt::format("{:.{}f}", amount, amount < 10 ? 2 : 0); }

OfferColumn cost_column(const std::string& header, const AmountText& text) {
  return step_column(header, [text](const PlannedStep& step) {
    return or_absent(step.cost, [&](const Cost& cost) { return text(cost.amount.typical); });
  });
}

OfferColumn cost_ends_column(const std::string& header, const AmountText& text) {
  return step_column(header + ", 90 %", [text](const PlannedStep& step) {
    return or_absent(step.cost, [&](const Cost& cost) {
      return fmt::format("{} – {}", text(cost.amount.low), text(cost.amount.high));
    });
  });
}

/// `>USD`, or `>USD per 1 M samples` where the length of the run is not known.
std::string currency_header(const std::vector<OfferRow>& rows, const char* unit) {
  std::string currency = "cost";
  for (const OfferRow& row : rows) {
    currency = row.step().cost ? row.step().cost->currency : currency;
  }
  return is_run(rows) ? fmt::format(">{}", currency) : fmt::format(">{} of {}", currency, unit);
}

/// The smallest size that is tried stands for all below it.
std::string ring_from(const Thresholds& found) {
  return !found.ring_from_bytes                     ? "never"
         : *found.ring_from_bytes == kSmallestTried ? fmt::format("≤ {}", format(kSmallestTried))
                                                    : format(*found.ring_from_bytes);
}

std::string enough_bandwidth(const Offer& offer, const std::optional<double>& factor) {
  const auto rate = link_bandwidth(offer.machine);
  return !factor ? std::string("none is enough")
         : rate  ? format(BytesPerSecond{*factor * rate->value})
                 : fmt::format("{:.2g} ×", *factor);
}

OfferColumn threshold_column(const char* header, std::function<std::string(const Thresholds&)> cell) {
  return {header, [cell = std::move(cell)](const OfferRow& row) { return cell(row.shown->thresholds); }};
}

TextTable offers_table(const study::PlanStudy& study, std::size_t top) {
  std::vector<OfferRow> rows = shown_rows(study);
  constexpr const char* kUnit = "1 M samples";
  const std::string currency = currency_header(rows, kUnit);
  OfferColumn run = run_column(rows, kUnit);
  rows.resize(std::min(rows.size(), top));
  return table_of<OfferRow>(
      {mark_column(), offer_column(), total_column(), total_ends_column(),
       step_column(">lost", [](const PlannedStep& step) { return percent(step.exposed_share.typical); }),
       step_column(">lost, 90 %",
                   [](const PlannedStep& step) {
                     return fmt::format("{} – {}", percent(step.exposed_share.low),
                                        percent(step.exposed_share.high));
                   }),
       step_column(">" + study.ranked.plan.algorithm,
                   [](const PlannedStep& step) { return format(step.communication.typical); }),
       threshold_column(">ring", [](const Thresholds& found) { return or_absent(found.ring); }),
       threshold_column(">naive", [](const Thresholds& found) { return or_absent(found.naive); }),
       std::move(run), cost_column(currency, money_text), cost_ends_column(currency, money_text)},
      rows);
}

TextTable gradients_table(const study::PlanStudy& study) {
  std::vector<OfferRow> rows;
  for (const std::size_t index : study.ranked.order) {
    if (study.ranked.candidates[index].step.usable()) {
      rows.push_back({&study.ranked, index});
    }
  }
  if (rows.empty()) {
    return {};
  }
  return table_of<OfferRow>(
      {offer_column(),
       {"link", [](const OfferRow& row) { return link_words(row.offer().machine); }},
       step_column(">" + study.ranked.plan.algorithm,
                   [](const PlannedStep& step) { return format(step.communication.typical); }),
       step_column(fmt::format(">{}, 90 %", study.ranked.plan.algorithm),
                   [](const PlannedStep& step) { return ends(step.communication); }),
       step_column(">ring", [](const PlannedStep& step) { return or_absent(step.ring); }),
       step_column(">naive", [](const PlannedStep& step) { return or_absent(step.naive); }),
       step_column(">ring is",
                   [](const PlannedStep& step) {
                     return step.ring && step.naive
                                ? fmt::format("{:.2g}×", step.naive->value / step.ring->value)
                                : std::string(kAbsent);
                   }),
       step_column("limit", [](const PlannedStep& step) { return step.limit; })},
      rows);
}

TextTable layouts_table(const study::PlanStudy& study, std::size_t top) {
  std::vector<OfferRow> rows = mapped(study.ranked.order, [&](std::size_t index) {
    return OfferRow{&study.ranked, index};
  });
  constexpr const char* kUnit = "1 B tokens";
  const std::string currency = currency_header(rows, kUnit);
  OfferColumn run = run_column(rows, kUnit);
  rows.resize(std::min(rows.size(), top));
  const auto share = [](const Interval<Seconds>& part, const PlannedStep& step) {
    return percent(part.typical.value / step.total.typical.value);
  };
  std::vector<OfferColumn> of_steps = {
      step_column(">batch × passes",
                  [](const PlannedStep& step) {
                    return fmt::format("{} × {}", step.micro_batch, step.micro_batches);
                  }),
      step_column(">fits", [](const PlannedStep& step) { return or_absent(step.largest_batch, to_text); }),
      total_column(),
      total_ends_column(),
      step_column(">exposed", [&](const PlannedStep& step) { return share(step.exposed, step); }),
      step_column(">bubble",
                  [&](const PlannedStep& step) {
                    return step.layout->pipeline > 1 ? share(step.bubble, step) : std::string(kAbsent);
                  }),
      step_column(">tokens/s",
                  [](const PlannedStep& step) { return fmt::format("{:.0f}", step.speed.typical); }),
      std::move(run),
      cost_column(currency, large_amount),
      cost_ends_column(currency, large_amount)};
  std::vector<OfferColumn> columns = {
      mark_column(), offer_column(),
      step_column("way", [](const PlannedStep& step) { return describe(*step.layout); }),
      step_column(">memory of a GPU", [](const PlannedStep& step) {
        return step.gpu_memory
                   ? fmt::format("{:.3g} of {}", static_cast<double>(step.memory.total().value) / 1e9,
                                 in_gb(*step.gpu_memory))
                   : std::string(kAbsent);
      })};
  for (OfferColumn& column : of_steps) {
    columns.push_back({column.header, [cell = std::move(column.cell)](const OfferRow& row) {
                         return row.step().usable() ? cell(row) : std::string{};
                       }});
  }
  return table_of(columns, rows);
}

}  // namespace

TextTable thresholds_table(const study::PlanStudy& study) {
  std::vector<OfferRow> rows = shown_rows(study);
  std::erase_if(rows, [](const OfferRow& row) { return row.offer().gpus < 2; });
  if (rows.empty()) {
    return {};
  }
  return table_of<OfferRow>(
      {offer_column(),
       {"link", [](const OfferRow& row) { return link_name(row.offer().machine); }},
       {">has", [](const OfferRow& row) { return or_absent(link_bandwidth(row.offer().machine)); }},
       {">for 10 %",
        [](const OfferRow& row) {
          return enough_bandwidth(row.offer(), row.shown->thresholds.factor_for_10_percent);
        }},
       {">for 5 %",
        [](const OfferRow& row) {
          return enough_bandwidth(row.offer(), row.shown->thresholds.factor_for_5_percent);
        }},
       threshold_column(
           ">micro-batches",
           [](const Thresholds& found) { return or_absent(found.accumulate_for_10_percent, to_text); }),
       {">GPUs",
        [](const OfferRow& row) {
          const auto& most = row.shown->thresholds.gpus_stop_paying;
          return most ? fmt::format("{}", *most) : fmt::format("> {}", row.offer().gpus - 1);
        }},
       threshold_column(">ring from", ring_from),
       threshold_column(">ring from GPUs",
                        [](const Thresholds& found) {
                          return found.ring_from_gpus ? std::to_string(*found.ring_from_gpus) : "never";
                        }),
       {"fastest way", [](const OfferRow& row) { return row.shown->best_way; }}},
      rows);
}

TextTable plan_table(const study::PlanStudy& study, std::size_t top) {
  return study.ranked.plan.shards()              ? layouts_table(study, top)
         : !computes(study.ranked.plan.workload) ? gradients_table(study)
         : study.shown.empty()                   ? TextTable{}
                                                 : offers_table(study, top);
}

}  // namespace ringside::cli
