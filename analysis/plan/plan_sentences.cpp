#include "analysis/plan/plan_sentences.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/plan/links.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

std::string times(double factor) {
  return factor < 1 ? fmt::format("{:.2g}", factor) : fmt::format("{:.{}f}", factor, factor < 10 ? 1 : 0);
}

std::string bottleneck_sentence(const Plan& plan, const Offer& offer, const PlannedStep& step) {
  const Bytes bytes = gradient_bytes(plan.workload);
  const std::string what = link_words(offer.machine, true);
  const std::string numbers = fmt::format(
      "synchronising {} takes {}, computing {}; {} of the step ({} to {}) is lost to synchronising",
      model_size(bytes), format(step.communication.typical), format(step.compute.typical),
      percent(step.exposed_share.typical), percent(step.exposed_share.low), percent(step.exposed_share.high));
  return fmt::format("{}: {} {}: {}{}.", offer.name, what, bottleneck_words(step.exposed_share), numbers,
                     step.limit.empty() ? "" : fmt::format(" ({})", step.limit));
}

std::string enough_sentence(const Offer& offer, const Thresholds& found) {
  const auto rate = link_bandwidth(offer.machine);
  const auto at = [&](double factor) {
    return rate ? fmt::format("{} ({} times what it has)", format(BytesPerSecond{factor * rate->value}),
                              times(factor))
                : fmt::format("{} times what it has", times(factor));
  };
  if (!found.factor_for_10_percent) {
    return "No bandwidth would bring that below 10 %: the latency of its messages alone is too much.";
  }
  std::string text = fmt::format("{} 10 % from a link bandwidth of {} on",
                                 *found.factor_for_10_percent < 1 ? "It stays below" : "It falls below",
                                 at(*found.factor_for_10_percent));
  if (found.factor_for_5_percent) {
    text += fmt::format(", and below 5 % from {}", at(*found.factor_for_5_percent));
  }
  return text + ".";
}

std::string accumulate_sentence(const Thresholds& found) {
  return found.accumulate_for_10_percent && *found.accumulate_for_10_percent > 1
             ? fmt::format("So would accumulating gradients over {} micro-batches per step.",
                           *found.accumulate_for_10_percent)
             : std::string{};
}

std::string ring_sentence(const Plan& plan, const Offer& offer, const Thresholds& found) {
  if (!found.ring || !found.naive) {
    return {};
  }
  const double speedup = found.naive->value / found.ring->value;
  std::string text =
      fmt::format("Our own ring takes {} for {} in one message, naive {}: ring is {}", format(*found.ring),
                  model_size(gradient_bytes(plan.workload)), format(*found.naive),
                  speedup > 1.05   ? fmt::format("{:.2g} times faster", speedup)
                  : speedup < 0.95 ? "slower"
                                   : "no faster");
  if (found.ring_from_bytes) {
    text += *found.ring_from_bytes == kSmallestTried
                ? std::string(", and wins for small messages too")
                : fmt::format(", and wins from {} on", format(*found.ring_from_bytes));
  }
  const double private_links = static_cast<double>(offer.gpus);
  if (speedup < 0.75 * private_links) {
    text += fmt::format(
        " (on private links {:.0f} times; here ring's simultaneous transfers share links, and naive's do "
        "not)",
        private_links);
  }
  return text + ".";
}

/// A ring that passes whole messages on, in so many rounds.
std::string whole_ring_sentence(Planner& planner, const Plan& plan, const Offer& offer,
                                const Thresholds& found, const std::string& algorithm, int rounds) {
  const Bytes bytes = gradient_bytes(plan.workload);
  const auto whole = planner.all_reduce(offer, algorithm, offer.gpus, bytes);
  if (!whole || !found.naive) {
    return {};
  }
  const double ratio = whole->value / found.naive->value;
  return fmt::format("{} ({}) takes {}, {}: each of its {} sends all {}; ring's send 1/{} of it.",
                     algorithm == "tutorial_ring" ? "The ring of exercises" : "PyTorch's tutorial ring",
                     algorithm, format(*whole),
                     ratio > 1.05   ? fmt::format("{:.2g} times as long as naive", ratio)
                     : ratio < 0.95 ? percent(1 - ratio) + " less than naive"
                                    : "as long as naive",
                     count_of(rounds, "round"), model_size(bytes), offer.gpus);
}

/// Nothing to speak of, slower, or the bottleneck.
int level_of(double exposed_share) {
  constexpr double kSlowsDown = 0.1;
  return exposed_share > kBottleneck ? 2 : exposed_share > kSlowsDown ? 1 : 0;
}

std::string best_way_sentence(Planner& planner, const Plan& plan, const Offer& offer) {
  const std::vector<Alternative> tried = alternatives(planner, plan, offer);
  if (tried.empty()) {
    return {};
  }
  const Alternative& best = best_of(tried);
  const Alternative& planned = tried.front();
  if (&best == &planned) {
    return fmt::format("No other {}bucket size or way to synchronise was faster than {} with {}.",
                       planned.algorithm == kNative ? "" : "algorithm of ours, ", planned.algorithm,
                       name(planned.synchronisation.style));
  }
  return fmt::format("Fastest variant: {}, {} per step instead of {}.", describe(best, plan),
                     format(best.step.total), format(planned.step.total));
}

}  // namespace

std::string long_time(double seconds) {
  return seconds >= 2 * 86400 ? fmt::format("{:.3g} days", seconds / 86400)
         : seconds >= 3600    ? fmt::format("{:.3g} h", seconds / 3600)
         : seconds >= 60      ? fmt::format("{:.3g} min", seconds / 60)
                              : format(Seconds{seconds});
}

std::string model_size(Bytes size) {
  const double number = static_cast<double>(size.value) / 1e6;
  return number < 1000 ? fmt::format("{:.3g} MB", number) : fmt::format("{:.3g} GB", number / 1000);
}

std::string token_text(double tokens) {
  constexpr double kRoundsToABillion = 0.9995e9;
  constexpr double kRoundsToATrillion = 0.9995e12;
  return tokens >= kRoundsToATrillion  ? fmt::format("{:.3g} T tokens", tokens / 1e12)
         : tokens >= kRoundsToABillion ? fmt::format("{:.3g} B tokens", tokens / 1e9)
                                       : fmt::format("{:.3g} M tokens", tokens / 1e6);
}

std::string workload_sentence(const Plan& plan) {
  const Workload& workload = plan.workload;
  if (!computes(workload)) {
    return fmt::format("all_reduce of {} of gradients in one message; ring, naive: our own algorithms",
                       model_size(gradient_bytes(workload)));
  }
  std::string run = "a run of unknown length";
  if (workload.samples > 0 && workload.transformer) {
    run =
        token_text(workload.samples * workload.epochs * static_cast<double>(workload.transformer->sequence));
  } else if (workload.samples > 0) {
    run = fmt::format("{} of {:.0f} samples", count_of(fmt::format("{:g}", workload.epochs), "epoch"),
                      workload.samples);
  }
  const std::string batch = workload.batch_per_gpu ? fmt::format("{} per GPU", *workload.batch_per_gpu)
                                                   : fmt::format("{} over all GPUs", *workload.global_batch);
  const int accumulate = plan.synchronisation.accumulate;
  return fmt::format("{}: {}{}, batch {}{}.", workload.name, run,
                     workload.transformer
                         ? fmt::format(", sequences of {} in {}", workload.transformer->sequence,
                                       name(workload.compute.precision))
                         : "",
                     batch, accumulate > 1 ? fmt::format(", {} micro-batches a step", accumulate) : "");
}

std::string bottleneck_words(const Interval<double>& exposed_share) {
  constexpr std::array kSure = {"is not the bottleneck", "slows training down", "is the bottleneck"};
  const int least = level_of(exposed_share.low);
  const int typical = level_of(exposed_share.typical);
  const int most = level_of(exposed_share.high);
  if (least == most) {
    return kSure[static_cast<std::size_t>(typical)];
  }
  if (typical == 0) {
    return most == 2 ? "may be the bottleneck" : "may slow training down";
  }
  return typical == 2
             ? "is typically the bottleneck"
             : fmt::format("typically slows training down{}", most == 2 ? " and may be the bottleneck" : "");
}

std::string describe(const Alternative& alternative, const Plan& plan) {
  std::vector<std::string> parts;
  if (alternative.algorithm != plan.algorithm) {
    parts.push_back(alternative.algorithm);
  }
  const SynchronisationSettings& settings = alternative.synchronisation;
  if (settings.style != plan.synchronisation.style) {
    parts.emplace_back(name(settings.style));
  }
  if (settings.bucket != plan.synchronisation.bucket) {
    parts.push_back("buckets of " + format(settings.bucket));
  }
  return parts.empty() ? "the plan as it is" : fmt::format("{}", fmt::join(parts, " with "));
}

std::string remedy(const Thresholds& found, const Offer& offer) {
  std::string text;
  if (found.factor_for_10_percent && *found.factor_for_10_percent > 1) {
    const auto rate = link_bandwidth(offer.machine);
    text = fmt::format("links {} times as fast", times(*found.factor_for_10_percent));
    if (rate) {
      text += fmt::format(" ({})", format(BytesPerSecond{*found.factor_for_10_percent * rate->value}));
    }
  }
  if (found.accumulate_for_10_percent && *found.accumulate_for_10_percent > 1) {
    text += fmt::format("{}accumulate {}", text.empty() ? "" : " or ", *found.accumulate_for_10_percent);
  }
  return text;
}

std::vector<std::string> explain(Planner& planner, const Plan& plan, const Offer& offer,
                                 const PlannedStep& step, const Thresholds& found) {
  RINGSIDE_CHECK(step.usable(), "an offer without an estimate cannot be explained");
  if (offer.gpus < 2) {
    return {fmt::format("{}: one GPU has nothing to synchronise.", offer.name)};
  }
  std::vector<std::string> sentences = {
      bottleneck_sentence(plan, offer, step),
      enough_sentence(offer, found),
      accumulate_sentence(found),
      ring_sentence(plan, offer, found),
      whole_ring_sentence(planner, plan, offer, found, "tutorial_ring", 2 * (offer.gpus - 1)),
      whole_ring_sentence(planner, plan, offer, found, "circulating_ring", offer.gpus - 1),
      best_way_sentence(planner, plan, offer),
      found.gpus_stop_paying ? fmt::format("From {} on, one more adds less than half of a GPU's speed.",
                                           count_of(*found.gpus_stop_paying, "GPU"))
                             : std::string{}};
  std::erase(sentences, "");
  return sentences;
}

std::vector<std::string> warnings_of(const Offer& offer, const std::optional<Interval<Seconds>>& run) {
  std::vector<std::string> sentences = offer.warnings;
  if (offer.available && run && run->typical > *offer.available) {
    sentences.push_back(
        fmt::format("It can be rented for {}, less than the run takes.", long_time(offer.available->value)));
  }
  return sentences;
}

}  // namespace ringside
