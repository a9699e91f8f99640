#include "sim/nccl/knowledge.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/units.hpp"
#include "schedule/registry.hpp"
#include "sim/topology/description.hpp"

namespace ringside {

namespace {

std::variant<NcclSystem, std::string> system_of_known(const Machine& machine, const Known& known) {
  try {
    return nccl_system(machine, *known.ranks);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("known: an {} on {} ranks: {}", name(known.collective),
                                          *known.ranks, error.what()));
  }
}

PointKey key_of(const Known& known) {
  return {.collective = known.collective,
          .algorithm = *known.algorithm,
          .ranks = *known.ranks,
          .bytes = *known.bytes};
}

bool is_collective(const Known& known) {
  return known.algorithm && known.ranks && known.bytes && known.bytes->value > 0 && known.seconds;
}

/// One GPU sending to the next, with nothing else going on.
RingHop copy_on(const Machine& machine) { return ring_inside_node(machine, 2).front(); }

/// Geometric mean of what is known of copies between two GPUs.
template <typename Value>
std::optional<double> mean_of_copies(const Machine& machine, std::optional<Value> Known::*member) {
  double sum = 0;
  int count = 0;
  for (const Known& known : machine.known) {
    const std::optional<Value>& value = known.*member;
    if (!known.algorithm && value && value->value > 0) {
      sum += std::log(value->value);
      ++count;
    }
  }
  return count > 0 ? std::optional(std::exp(sum / count)) : std::nullopt;
}

/// Two GPUs that copy: over PCIe nothing that more of them would share is in their way.
NcclSystem copying_pair(const Machine& machine, const NcclSystem& system) {
  if (system.link == GpuLink::pcie && !system.bridged_pairs) {
    const auto pair = nccl_system(machine, 2);
    if (const auto* found = std::get_if<NcclSystem>(&pair)) {
      return *found;
    }
  }
  return system;
}

/// Whether copies between two GPUs of a node are what predictions of links inside it are made of.
bool has_links_of_a_kind(const Machine& machine) {
  return machine.intra && machine.intra->kind != IntraKind::custom && !machine.calibrated &&
         machine.links.empty() && machine.gpus_per_node.value_or(2) > 1;
}

/// Whether its links can have the bandwidth that `intra` says.
bool carries_its_bandwidth(const Machine& machine) {
  try {
    copy_on(machine);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<BytesPerSecond> usual_copy(const Machine& machine) {
  return has_links_of_a_kind(machine) ? std::optional(copy_on(machine).alone) : std::nullopt;
}

std::optional<ScheduleTime> schedule_time(const Machine& machine, const PointKey& key) {
  if (key.algorithm == kNative || !machine.gpu || key.bytes.value == 0) {
    return std::nullopt;
  }
  PredictOptions options;
  options.interval = false;
  const auto seconds = [&](Bytes bytes) -> std::optional<double> {
    PointKey asked = key;
    asked.bytes = bytes;
    const auto outcome = simulate(machine, asked, options);
    const auto* prediction = std::get_if<Prediction>(&outcome);
    return prediction != nullptr && prediction->source == CostSource::spec
               ? std::optional(prediction->seconds.value)
               : std::nullopt;
  };
  // So small that only latencies count, and every chunk holds something.
  constexpr std::int64_t kFewElements = 16;
  const Bytes small{std::min<std::int64_t>(
      key.bytes.value, kFewElements * static_cast<std::int64_t>(size_of(key.dtype)) * key.ranks)};
  const std::optional<double> whole = seconds(key.bytes);
  const std::optional<double> latency = whole ? seconds(small) : std::nullopt;
  if (!latency || !(*whole > 0)) {
    return std::nullopt;
  }
  return ScheduleTime{.algorithm = key.algorithm,
                      .seconds = *whole,
                      .byte_share = std::clamp(1 - *latency / *whole, 0.0, 1.0)};
}

Machine with_known_copies(const Machine& machine) {
  const std::optional<double> rate = mean_of_copies(machine, &Known::bandwidth);
  if (!rate || !has_links_of_a_kind(machine)) {
    return machine;
  }
  const auto pair = nccl_system(machine, 2);
  const auto* system = std::get_if<NcclSystem>(&pair);
  if (system == nullptr || system->link_rate <= 0) {
    return machine;
  }
  // What a copy gets is in proportion to the bandwidth of its links, so one trial tells their need.
  Machine result = machine;
  const double trial = 0.5 * system->link_rate * kGiga;
  result.intra->bandwidth = BytesPerSecond{trial};
  const double share = copy_on(result).alone.value / trial;
  constexpr double kWithinMeasuring = 1.3;
  constexpr double kLess = 0.95;
  for (double gets = *rate; gets * kWithinMeasuring >= *rate; gets *= kLess) {
    result.intra->bandwidth = BytesPerSecond{gets / share};
    if (carries_its_bandwidth(result)) {
      return result;
    }
  }
  throw bad_input(
      "known: p2p: {:.3g} GB/s is more than the described links give two GPUs (about {:.3g} GB/s by the "
      "data sheet){}",
      *rate / kGiga, share * system->link_rate,
      system->link == GpuLink::pcie && system->transport.peer_to_peer < 1
          ? "; through host memory every byte crosses twice: if these GPUs copy without it, say "
            "`peer_to_peer: true` under `intra`"
          : "; correct the bandwidth or the links");
}

NcclKnowledge nccl_knowledge(const Machine& machine, const NcclSystem& asked) {
  NcclKnowledge knowledge;
  const Machine copied = with_known_copies(machine);
  for (const Known& known : machine.known) {
    if (!is_collective(known)) {
      continue;
    }
    const auto outcome = system_of_known(machine, known);
    const auto* system = std::get_if<NcclSystem>(&outcome);
    const bool native = known.algorithm == kNative;
    if (system == nullptr) {
      continue;
    }
    const std::optional<ScheduleTime> schedule = schedule_time(copied, key_of(known));
    if (native || schedule) {
      knowledge.observations.push_back({.system = *system,
                                        .collective = known.collective,
                                        .bytes = static_cast<double>(known.bytes->value),
                                        .seconds = known.seconds->value,
                                        .schedule = schedule});
    }
  }
  if (const std::optional<double> rate = mean_of_copies(machine, &Known::bandwidth)) {
    knowledge.copy = NcclCopy{.system = copying_pair(machine, asked), .rate = {*rate}};
  }
  const std::optional<double> latency = mean_of_copies(machine, &Known::latency);
  if (latency && has_links_of_a_kind(machine)) {
    knowledge.copy_latency_ratio = *latency / copy_on(machine).latency.value;
  }
  return knowledge;
}

namespace {

std::string nodes_of(const NcclSystem& system) {
  return system.nodes == 1 ? "one node" : fmt::format("{} nodes", system.nodes);
}

std::string why_copy_is_useless(const Machine& machine, const Known& known, const PointKey& key,
                                const NcclSystem& asked) {
  if (asked.nodes > 1) {
    return fmt::format("a copy between two GPUs of one node says nothing about {} ranks on {}", key.ranks,
                       nodes_of(asked));
  }
  if (!has_links_of_a_kind(machine)) {
    return "the numbers of this machine's links are given, not a data sheet's";
  }
  if (!known.bandwidth && key.algorithm == kNative) {
    return "a copy's latency says nothing about NCCL's steps; measure an all_reduce of 1 KiB instead";
  }
  return {};
}

}  // namespace

std::string why_useless(const Machine& machine, const Known& known, const PointKey& key, NativeModel model) {
  if (key.algorithm == kNative && model != NativeModel::ringside) {
    return fmt::format("the model {} ignores it", name(model));
  }
  const auto asked = nccl_system(machine, key.ranks);
  if (const auto* reason = std::get_if<std::string>(&asked)) {
    return *reason;
  }
  const auto& system = std::get<NcclSystem>(asked);
  if (!is_collective(known)) {
    return why_copy_is_useless(machine, known, key, system);
  }
  const bool native = known.algorithm == kNative;
  const auto measured = system_of_known(machine, known);
  if (const auto* reason = std::get_if<std::string>(&measured)) {
    return *reason;
  }
  const auto& place = std::get<NcclSystem>(measured);
  if (place.machine_class() != system.machine_class()) {
    return fmt::format("it was measured on {} ranks of {}, which says nothing about {} ranks on {}",
                       place.ranks, nodes_of(place), system.ranks, nodes_of(system));
  }
  if (!native && !schedule_time(machine, key_of(known))) {
    return fmt::format("{} of {} on {} ranks is not predicted from this description", *known.algorithm,
                       format(*known.bytes), *known.ranks);
  }
  return {};
}

}  // namespace ringside
