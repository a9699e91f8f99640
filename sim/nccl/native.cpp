#include "sim/nccl/native.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/knowledge.hpp"
#include "sim/nccl/mixture.hpp"
#include "sim/nccl/model.hpp"
#include "sim/nccl/posterior.hpp"
#include "sim/nccl/tuner.hpp"

namespace ringside {

namespace {

std::string what_limits(const NcclSystem& system, const NcclEstimate& estimate) {
  switch (estimate.limit) {
    case NcclLimit::latency:
      return "latency limits: launch and hops take longer than the bytes";
    case NcclLimit::network:
      return fmt::format("the network limits: {} of a node, {:.4g} GB/s by the data sheet",
                         count_of(system.nics, "NIC"), system.network_rate);
    case NcclLimit::gpu_links:
      break;
  }
  const std::string measured =
      system.measured_rate > 0 ? fmt::format(", {:.4g} as measured", system.measured_rate) : "";
  if (system.link != GpuLink::pcie) {
    std::string text =
        fmt::format("the links between the GPUs of a node limit: {:.4g} GB/s each way by the data sheet{}",
                    system.link_rate, measured);
    if (system.bridge_links > 0) {
      text += fmt::format(
          ", if all {} links of the pair are bridged; otherwise state `links_per_gpu` or a measured "
          "`bandwidth`",
          system.bridge_links);
    }
    return text;
  }
  const double share = system.transport.peer_to_peer;
  std::string text =
      fmt::format("PCIe limits: {:.3g} GB/s each way by the data sheet{}", system.link_rate, measured);
  if (share > 0) {
    text += fmt::format("; peer to peer a ring of copies gets {:.3g} GB/s per hop", system.peer_ring_rate);
  }
  if (share < 1) {
    text += fmt::format("; through host memory {:.3g} GB/s, for each byte crosses it twice",
                        system.host_ring_rate);
  }
  if (system.gpus_per_node() > 2) {
    text += fmt::format(
        "; {:g} GPUs share host bridges and the inter-socket link: up to ten times less on the slowest hosts",
        system.gpus_per_node());
  }
  return text;
}

/// How bytes get from GPU to GPU over PCIe, and why.
std::string transport_of(const NcclSystem& system) {
  const PcieTransport& transport = system.transport;
  if (transport.peer_to_peer <= 0) {
    return fmt::format("the transport is host memory, {}", transport.why);
  }
  if (transport.peer_to_peer >= 1) {
    return fmt::format("the transport is peer to peer, {}", transport.why);
  }
  return fmt::format("the transport is peer to peer ({} likely) or host memory, {}",
                     percent(transport.peer_to_peer), transport.why);
}

/// Which kinds of hosts the prediction is a mixture of, or of which this one is by what is known: that is
/// told where an all_reduce was measured and its interval is clearly narrower than without.
std::string kinds_of_hosts(const NcclSystem& system, const NcclFit& fit, Collective collective,
                           const Interval<double>& alone, const Interval<double>& range) {
  const std::vector<HostKind> kinds = host_kinds(system, fit.parameters, collective);
  constexpr double kNarrower = 0.7;
  const auto width = [](const Interval<double>& interval) { return std::log(interval.high / interval.low); };
  return width(range) < kNarrower * width(alone) ? known_kind_sentence(kinds, range.typical / alone.typical)
                                                 : mixture_sentence(kinds);
}

/// As NCCL calls it: NVLS inside several nodes and a tree between them is an algorithm of its own there.
std::string_view name_on(const NcclSystem& system, NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::nvls && system.nodes > 1 ? "NVLSTree" : name(algorithm);
}

/// Algorithm, protocol, and the channels that NCCL's own search plans with: RCCL's is another.
std::string what_it_takes(const NcclSystem& system, Collective collective, const NcclEstimate& estimate) {
  if (row_of(collective).nccl_sends) {
    return fmt::format("{} sends from rank to rank with protocol {}",
                       system.vendor == Vendor::amd ? "RCCL" : "NCCL", name(estimate.protocol));
  }
  if (system.vendor == Vendor::amd) {
    return fmt::format("RCCL takes {} with protocol {}", name_on(system, estimate.algorithm),
                       name(estimate.protocol));
  }
  const NcclGraph graph = nccl_graph(system);
  const int channels = estimate.algorithm == NcclAlgorithm::nvls && graph.nvls_channels > 0
                           ? graph.nvls_channels
                           : graph.channels;
  return fmt::format("NCCL takes {} with protocol {} on up to {}", name_on(system, estimate.algorithm),
                     name(estimate.protocol), count_of(channels, "channel"));
}

/// Measured times of native, unless impossible for the unit: ms for us is a thousand. Says where
/// a time is shorter than the links allow: the description may be wrong, and what was measured counts.
std::string check_of(const NcclKnowledge& knowledge, const NcclFit& fit) {
  constexpr double kTooFast = 30;
  constexpr double kTooSlow = 300;
  std::string sentence;
  for (const NcclObservation& known : knowledge.observations) {
    if (known.schedule) {
      continue;
    }
    const auto said = [&] {
      return fmt::format("{} of {} on {} ranks in {}", name(known.collective),
                         format(Bytes{static_cast<std::int64_t>(known.bytes)}), known.system.ranks,
                         format(Seconds{known.seconds}));
    };
    const double least = nccl_least_seconds(known.system, known.collective, known.bytes);
    const double usual =
        NcclPosterior(fit, known.system, {}).predict(known.system, known.collective, known.bytes).typical;
    if (known.seconds * kTooFast < least || known.seconds > kTooSlow * usual) {
      throw bad_input("known: {} cannot be: {}; is the unit right?", said(),
                      known.seconds < usual
                          ? fmt::format("links of this description take {}", format(Seconds{least}))
                          : fmt::format("{} is predicted", format(Seconds{usual})));
    }
    if (known.seconds < least) {
      sentence = fmt::format("{} is shorter than the described links allow ({}); check the description",
                             said(), format(Seconds{least}));
    }
  }
  return sentence;
}

Prediction ours(const Machine& machine, const NcclSystem& system, Collective collective, double bytes,
                const NcclFit& fit) {
  const NcclKnowledge knowledge = nccl_knowledge(machine, system);
  const std::string doubt = check_of(knowledge, fit);
  const NcclPosterior posterior(fit, system, knowledge);
  const Interval<double> range = posterior.predict(system, collective, bytes);
  const Interval<double> alone = NcclPosterior(fit, system, {}).predict(system, collective, bytes);
  const bool moved = range != alone;
  const NcclEstimate estimate = nccl_collective(fit.parameters, system, collective, bytes);
  Prediction prediction = {
      .seconds = {range.typical},
      .low = Seconds{range.low},
      .high = Seconds{range.high},
      .fidelity = Fidelity::nccl,
      .source = moved ? CostSource::spec_plus_known : CostSource::spec,
      .limits = {{.kind = Limit::Kind::model, .text = what_it_takes(system, collective, estimate)},
                 {.kind = Limit::Kind::model, .text = what_limits(system, estimate)}},
      // Its channels are rings and trees that leave a node through different NICs.
      .nics = system.nodes > 1 ? std::optional(NicUse{.used = system.nics, .of = machine.inter->nics})
                               : std::nullopt};
  if (!doubt.empty()) {
    prediction.limits.push_back({.kind = Limit::Kind::model, .text = doubt});
  }
  if (system.link == GpuLink::pcie) {
    prediction.limits.push_back({.kind = Limit::Kind::model, .text = transport_of(system)});
    const std::string kinds = kinds_of_hosts(system, fit, collective, alone, range);
    if (!kinds.empty() && estimate.limit == NcclLimit::gpu_links) {
      prediction.limits.push_back({.kind = Limit::Kind::model, .text = kinds});
    }
  }
  return prediction;
}

/// A model that is not ours has no interval.
Prediction of_others(double seconds, std::string what) {
  return {.seconds = {seconds},
          .low = {},
          .high = {},
          .fidelity = Fidelity::nccl,
          .source = CostSource::spec,
          .limits = {{.kind = Limit::Kind::model, .text = std::move(what)}}};
}

/// 1073741824 → `1G`, as nccl-tests takes sizes.
std::string nccl_tests_size(std::int64_t bytes) {
  constexpr std::int64_t kKi = 1024;
  constexpr std::array<std::string_view, 4> kSuffixes = {"", "K", "M", "G"};
  std::size_t suffix = 0;
  while (bytes % kKi == 0 && suffix + 1 < kSuffixes.size()) {
    bytes /= kKi;
    ++suffix;
  }
  return fmt::format("{}{}", bytes, kSuffixes.at(suffix));
}

std::string command_for(const NcclSystem& system, Bytes bytes) {
  const std::string size = nccl_tests_size(bytes.value);
  const std::string tests = fmt::format("all_reduce_perf -b {} -e {}", size, size);
  if (system.nodes == 1) {
    return fmt::format("mpirun -n {} {} -g 1", system.ranks, tests);
  }
  return fmt::format("mpirun -n {} -N {:g} {} -g 1", system.ranks, system.gpus_per_node(), tests);
}

/// Geometric mean of high over low.
double mean_width(const Machine& machine, std::span<const PointKey> keys) {
  double sum = 0;
  for (const PointKey& key : keys) {
    const auto outcome = predict_nccl_native(machine, key, NativeModel::ringside);
    const auto& prediction = std::get<Prediction>(outcome);
    sum += std::log(prediction.high->value / prediction.low->value);
  }
  return std::exp(sum / static_cast<double>(keys.size()));
}

/// What somebody could measure on all ranks, as if it came out as predicted.
std::vector<NcclAdvice> candidates(const Machine& machine, const PointKey& sample, const NcclSystem& system,
                                   std::span<const PointKey> keys) {
  constexpr std::int64_t kKi = 1024;
  constexpr std::array<std::int64_t, 3> kSizes = {kKi, kKi * kKi, kKi * kKi * kKi};
  std::vector<NcclAdvice> result;
  for (const std::int64_t size : kSizes) {
    PointKey key = sample;
    key.bytes = {size};
    const auto outcome = predict_nccl_native(machine, key, NativeModel::ringside);
    Machine then = machine;
    then.known.push_back({.algorithm = std::string(kNative),
                          .ranks = key.ranks,
                          .bytes = key.bytes,
                          .seconds = std::get<Prediction>(outcome).seconds,
                          .bandwidth = {},
                          .latency = {}});
    result.push_back({.what = fmt::format("one all_reduce of {} on {} ranks", format(key.bytes), key.ranks),
                      .command = command_for(system, key.bytes),
                      .known = fmt::format("{{native: {{ranks: {}, bytes: {}, seconds: …}}}}", key.ranks,
                                           format(key.bytes)),
                      .width_after = mean_width(then, keys)});
  }
  const std::optional<BytesPerSecond> copy = system.nodes == 1 ? usual_copy(machine) : std::nullopt;
  if (copy) {
    Machine then = machine;
    then.known.push_back({.bandwidth = copy});
    result.push_back({.what = "the bandwidth of a copy between two of the GPUs",
                      .command = "p2pBandwidthLatencyTest",
                      .known = "{p2p: {bandwidth: …}}",
                      .width_after = mean_width(then, keys)});
  }
  return result;
}

}  // namespace

std::variant<Prediction, std::string> predict_nccl_native(const Machine& machine, const PointKey& key,
                                                          NativeModel model, const NcclFit& fit) {
  if (!machine.stragglers.empty()) {
    return std::string("NCCL with stragglers is not modelled");
  }
  const auto outcome = nccl_system(machine, key.ranks);
  if (const auto* reason = std::get_if<std::string>(&outcome)) {
    return *reason;
  }
  const auto& system = std::get<NcclSystem>(outcome);
  // An empty message still costs the launch and the steps of one byte.
  const double bytes = std::max(1.0, static_cast<double>(key.bytes.value));
  switch (model) {
    case NativeModel::ringside:
      return ours(machine, system, key.collective, bytes, fit);
    case NativeModel::nccl_tuner:
      if (key.collective != Collective::all_reduce) {
        return fmt::format("ringside has NCCL's cost table of all_reduce alone, not of {}",
                           name(key.collective));
      }
      if (const auto seconds = nccl_tuner_seconds(system, nccl_graph(system), bytes)) {
        return of_others(*seconds, "NCCL 2.30.7's own cost table");
      }
      return std::string("NCCL's cost table is of NVIDIA's GPUs");
    case NativeModel::alpha_beta:
      break;
  }
  return of_others(alpha_beta_seconds(system, key.collective, bytes),
                   "a ring by the textbook's alpha-beta model, with data-sheet bandwidth");
}

bool is_known(const Machine& machine, const PointKey& key) {
  return std::any_of(machine.known.begin(), machine.known.end(), [&](const Known& known) {
    return known.collective == key.collective && known.algorithm == key.algorithm &&
           known.ranks == key.ranks && known.bytes == key.bytes;
  });
}

std::optional<NcclAdvice> nccl_advice(const Machine& machine, std::span<const PointKey> keys) {
  std::vector<PointKey> unknown;
  for (const PointKey& key : keys) {
    const bool asked = key.algorithm == kNative && key.ranks > 1 && !is_known(machine, key);
    if (asked &&
        std::holds_alternative<Prediction>(predict_nccl_native(machine, key, NativeModel::ringside))) {
      unknown.push_back(key);
    }
  }
  if (unknown.empty()) {
    return std::nullopt;
  }
  PointKey sample = unknown.back();
  sample.collective = Collective::all_reduce;
  const auto system = std::get<NcclSystem>(nccl_system(machine, sample.ranks));
  std::vector<NcclAdvice> all = candidates(machine, sample, system, unknown);
  NcclAdvice best = *std::min_element(all.begin(), all.end(), [](const NcclAdvice& a, const NcclAdvice& b) {
    return a.width_after < b.width_after;
  });
  best.width_before = mean_width(machine, unknown);
  best.question = system.transport.question;
  best.answer = system.transport.answer;
  constexpr double kWorthwhile = 0.9;
  return best.width_after < kWorthwhile * best.width_before || !best.question.empty() ? std::optional(best)
                                                                                      : std::nullopt;
}

}  // namespace ringside
