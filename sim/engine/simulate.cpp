// 400 lines: which schedules, policy, fidelity and ends of intervals a point has is one chain of decisions.
#include "sim/engine/simulate.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/interval.hpp"
#include "schedule/program/execution.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/registry.hpp"
#include "sim/engine/backend_models.hpp"
#include "sim/engine/calibration_ends.hpp"
#include "sim/engine/closed_form.hpp"
#include "sim/engine/flow_prediction.hpp"
#include "sim/engine/link_sharing.hpp"
#include "sim/engine/replay.hpp"
#include "sim/engine/shared_processor.hpp"
#include "sim/topology/network.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {
namespace {

/// As which algorithm a point is predicted.
struct Model {
  const Algorithm* algorithm = nullptr;
  int segments = 0;       ///< As in ScheduleRequest.
  int in_flight = 1;      ///< As in ExecutionPolicy.
  bool native = false;    ///< Runs as the library does, not under our policies.
  bool two_shot = false;  ///< As two_shot_in_memory(), where that can tell.
};

std::variant<Model, Unpredicted> native_model(const BackendModel& model, const PointKey& key) {
  if (model.own == OwnCollectives::unknown || model.own == OwnCollectives::nccl) {
    return Unpredicted{fmt::format("what {} does for its own {} is not modelled", name(model.backend),
                                   name(key.collective))};
  }
  if (key.collective != Collective::all_reduce) {
    return Unpredicted{fmt::format("{}'s own {} is not modelled, only its all_reduce", name(model.backend),
                                   name(key.collective))};
  }
  if (model.own == OwnCollectives::two_shot) {
    return Model{
        .algorithm = &known_algorithm(key.collective, "direct_two_shot"), .native = true, .two_shot = true};
  }
  return Model{.algorithm = &known_algorithm(key.collective, "pipelined_ring"),
               .segments = gloo_ring_segments(key.bytes, key.dtype, key.ranks),
               .in_flight = kGlooRingInFlight,
               .native = true};
}

std::variant<Model, Unpredicted> model_of(const Machine& machine, const PointKey& key, Backend backend) {
  if (key.algorithm == kNative) {
    return native_model(backend_model(machine, backend), key);
  }
  return Model{.algorithm = &known_algorithm(key.collective, key.algorithm)};
}

/// Where ranks are assumed to work: where they were calibrated, otherwise on GPUs if there are any.
RankSite site_on(const Machine& machine, const Network& network) {
  const std::string backend = machine.calibrated ? machine.calibrated->backend : "";
  const BackendModel& model = backend_model(backend);
  if (model.on_gpus || (backend.empty() && machine.gpu)) {
    return RankSite::gpu;
  }
  if (model.through_memory) {
    return RankSite::memory;
  }
  if (!model.owns_cores || !machine.calibrated->machine_tuning || !network.processor ||
      !network.processor->cores) {
    return RankSite::cpu;
  }
  return *network.processor->cores >= network.num_ranks ? RankSite::own_core : RankSite::shared_cores;
}

/// The policy that a prediction of this point assumes.
ExecutionPolicy assumed_policy(const Machine& machine, const Network& network, const Schedule& schedule,
                               const PointKey& key, const Model& model, Fidelity fidelity) {
  ExecutionRules rules = rules_of(site_on(machine, network));
  // A replay gives every message a link of its own: the segments of one message would travel side by side.
  if (model.native || fidelity == Fidelity::replay) {
    rules.segments.reset();
  }
  ExecutionPolicy policy = policy_for(schedule, buffer_of(key), rules);
  if (policy.segments == 1 && model.in_flight > 1) {
    policy.in_flight = model.in_flight;
    policy.receives_ahead = true;  // Whatever our own schedules would do there.
  }
  return policy;
}

RankPlacement placement_of(const Network& network) {
  return {.ranks_per_node = network.ranks_per_node, .order = network.order};
}

/// Whether messages that a rank sends or receives at once share its one port.
bool shares_ports(const Network& network, const Schedule& schedule) {
  return network.uniform && network.uniform->single_port && schedule.several_at_once();
}

/// Why the closed form does not hold here; empty where it does.
std::string closed_form_obstacle(const Network& network, const Schedule& schedule) {
  if (network.processor) {
    return network.processor->cores
               ? fmt::format("its {} ranks share {} CPU cores", network.num_ranks, *network.processor->cores)
               : "what messages take, alone and together, is a measured curve";
  }
  if (has_stragglers(network)) {
    return "it has stragglers";
  }
  if (!network.uniform) {
    return "its links are shared or differ from pair to pair";
  }
  if (shares_ports(network, schedule)) {
    return fmt::format("a rank has one port, which {} shares among messages that are under way at once",
                       schedule.algorithm().name);
  }
  return {};
}

/// From here on MPI libraries ask the receiver before they send: by default over TCP, Open MPI 4.0 to 5.0 do
/// (btl_tcp_eager_limit, 64 KiB with the header).
constexpr std::int64_t kAskedFirst = 64LL << 10;
/// Schedules of more rounds than this are rings of many ranks, of which none exchanges with one other.
constexpr std::int64_t kMostRoundsOfExchanges = 64;

/// The share of long messages in what ranks of the first node both send to and receive from one of another.
double long_share_of_exchanges(const Execution& execution, int per_node) {
  const auto node_of = [&](Rank rank) { return rank / std::max(1, per_node); };
  double long_bytes = 0;
  double all_bytes = 0;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < std::min(execution.num_rounds(), kMostRoundsOfExchanges); ++round) {
    execution.write_round(round, moves);
    std::map<std::pair<Rank, Rank>, std::int64_t> sent;
    for (const Move& move : moves) {
      if ((node_of(move.source) == 0) != (node_of(move.target) == 0)) {
        sent[{move.source, move.target}] += execution.bytes(move);
      }
    }
    for (const auto& [pair, bytes] : sent) {
      if (sent.contains({pair.second, pair.first})) {
        all_bytes += static_cast<double>(bytes);
        long_bytes += bytes >= kAskedFirst ? static_cast<double>(bytes) : 0;
      }
    }
  }
  return all_bytes > 0 ? long_bytes / all_bytes : 0;
}

/// Links between nodes as the library's own collectives get them: this share of their bytes is slower.
Machine with_native_exchanges(Machine machine, double long_share) {
  BetweenNodes& between = *machine.calibrated->between_nodes;
  const double typical = between.native_exchange;
  const Interval<double> range = between.native_exchange_interval.value_or(
      Interval<double>{.low = typical, .typical = typical, .high = typical});
  const auto slower = [&](double factor) { return 1 + (factor - 1) * long_share; };
  between.bandwidth = {between.bandwidth.value / slower(typical)};
  if (auto& interval = between.bandwidth_interval) {
    *interval = {.low = interval->low / slower(range.high),
                 .typical = between.bandwidth.value,
                 .high = interval->high / slower(range.low)};
  }
  between.native_exchange = 1;
  return machine;
}

/// Up to here the replay of any schedule takes some hundredths of a second.
constexpr int kMostReplayedRanks = 1024;

/// Whether the closed form is also the schedule's time: no chunk is empty, whose move it would
/// count, and a reduction is over before the next arrival (see closed_form.hpp). `network` is uniform.
bool closed_form_is_exact(const Network& network, const Execution& execution) {
  return !execution.has_empty_chunks() &&
         2 * network.uniform->reduction.value <= network.uniform->inverse_bandwidth.value;
}

Fidelity fidelity_for(const Network& network, const Execution& execution, const PredictOptions& options) {
  const std::string obstacle = closed_form_obstacle(network, execution.schedule());
  if (options.fidelity == Fidelity::closed_form) {
    if (!obstacle.empty()) {
      throw bad_input(
          "fidelity closed_form holds only where every pair of ranks has the same private link, "
          "but on this machine {}; use replay, flow or auto",
          obstacle);
    }
    if (options.trace != nullptr) {
      throw bad_input("fidelity closed_form has no timeline; use replay, flow or auto");
    }
  }
  if (options.fidelity != Fidelity::automatic) {
    return options.fidelity;
  }
  if (obstacle.empty() && options.trace == nullptr &&
      (network.num_ranks > kMostReplayedRanks || closed_form_is_exact(network, execution))) {
    return Fidelity::closed_form;
  }
  // Private links stay private when ranks are uneven: without contention the replay is exact.
  const bool contention = network.processor || shares_ports(network, execution.schedule());
  return network.uniform && !contention ? Fidelity::replay : Fidelity::flow;
}

/// The prediction without its interval: the execution is the same for both ends of that.
Prediction predict_on(const Network& network, const Execution& execution, Bytes size, const Model& model,
                      const PredictOptions& options, KnownPartition& known) {
  Prediction prediction;
  prediction.fidelity = fidelity_for(network, execution, options);
  prediction.source = network.source;
  const SimulationOptions simulation{
      .reduces_on_arrival =
          network.processor && find_curve(network.processor->curves, ProbeKind::reducing_exchange) != nullptr,
      .buffered = rules_of(RankSite::memory).buffered,
      .trace = options.trace};
  switch (prediction.fidelity) {
    case Fidelity::closed_form:
      prediction.seconds = closed_form(execution.schedule(), size, *network.uniform);
      break;
    case Fidelity::replay:
      prediction.seconds = replay(execution, network, simulation);
      // Its messages have links of their own, and together would carry more than those do.
      if (auto busiest = busiest_link(execution, network);
          busiest && busiest->seconds.value > prediction.seconds.value) {
        prediction.seconds = busiest->seconds;
        prediction.limits = {std::move(busiest->limit)};
      }
      break;
    case Fidelity::flow:
      predict_flow(execution, network, {.simulation = simulation, .force = options.force, .known = &known},
                   prediction);
      break;
    case Fidelity::nccl:
    case Fidelity::automatic:
      throw_bug("a chosen fidelity", __FILE__, __LINE__, "a fidelity was not chosen");
  }
  if (model.two_shot) {
    prediction.seconds = two_shot_in_memory(network, size).value_or(prediction.seconds);
  }
  return prediction;
}

/// The network with every number of which a range is known at the same end of that range; none when there is
/// no such number.
std::optional<Network> network_at_end(const Machine& machine, CostSource source, int num_ranks, bool fast) {
  if (source == CostSource::spec) {
    return build_network(machine, num_ranks, fast ? SpecNumbers::fastest : SpecNumbers::slowest);
  }
  if (source == CostSource::calibrated && machine.calibrated && has_intervals(*machine.calibrated)) {
    Machine moved = machine;
    moved.calibrated = end_of_intervals(*machine.calibrated, fast);
    return build_network(moved, num_ranks);
  }
  return std::nullopt;
}

/// Why a schedule on so many ranks is not simulated: what its network would take. Empty where it is.
std::string too_many_ranks(int num_ranks) {
  constexpr int kMostRanks = 131'072;
  constexpr double kBytesPerRank = 1000;  // Measured with 65,536 to 16,777,216 ranks in nodes of eight.
  constexpr double kSecondsPerRank = 3e-6;
  if (num_ranks <= kMostRanks) {
    return {};
  }
  return fmt::format(
      "the network of {} ranks alone takes about {:.2g} GB of memory and {}; take up to {} ranks", num_ranks,
      num_ranks * kBytesPerRank / 1e9, format(Seconds{num_ranks * kSecondsPerRank}), kMostRanks);
}

/// Sets the interval of the prediction by predicting both ends.
void add_interval(const Machine& machine, const Execution& execution, Bytes size, const Model& model,
                  PredictOptions options, KnownPartition& known, Prediction& prediction) {
  options.trace = nullptr;
  const auto fast = network_at_end(machine, prediction.source, execution.num_ranks(), true);
  const auto slow = network_at_end(machine, prediction.source, execution.num_ranks(), false);
  const auto seconds = [&](const Network& network) {
    return predict_on(network, execution, size, model, options, known).seconds;
  };
  if (fast && slow) {
    prediction.low = std::min(prediction.seconds, seconds(*fast));
    prediction.high = std::max(prediction.seconds, seconds(*slow));
  }
}

/// Its time alone, by one schedule.
std::variant<Prediction, Unpredicted> simulate_as(const Model& model, const Machine& machine,
                                                  const PointKey& key, const PredictOptions& options) {
  const Network network = build_network(machine, key.ranks);
  ScheduleRequest request = request_for(key.collective, key.ranks, placement_of(network));
  request.segments = model.segments;
  if (model.algorithm->unsupported != nullptr) {
    if (std::optional<std::string> reason = model.algorithm->unsupported(request)) {
      return Unpredicted{*std::move(reason)};
    }
  }
  const Schedule schedule(*model.algorithm, std::move(request));
  const Bytes buffer = buffer_of(key);
  const Execution execution(schedule, buffer, key.dtype,
                            assumed_policy(machine, network, schedule, key, model, options.fidelity));
  if (model.native && machine.calibrated && machine.calibrated->between_nodes &&
      machine.calibrated->between_nodes->native_exchange > 1) {
    const double long_share = long_share_of_exchanges(execution, network.ranks_per_node);
    return simulate_as(model, with_native_exchanges(machine, long_share), key, options);
  }
  KnownPartition known;
  Prediction prediction = predict_on(network, execution, buffer, model, options, known);
  if (!model.native) {
    prediction.policy = execution.policy();
  }
  if (options.interval) {
    add_interval(machine, execution, buffer, model, options, known, prediction);
  }
  return prediction;
}

/// The machine of those who take part.
Machine machine_of(const MpiPart& part, Machine machine) {
  if (part.group != MpiGroup::all) {
    machine.nodes = part.group == MpiGroup::node ? 1 : std::max(machine.nodes, part.ranks);
    machine.ranks_per_node = part.group == MpiGroup::node ? part.ranks : 1;
    machine.ring_order.reset();
    machine.stragglers.clear();
  }
  return machine;
}

/// An MPI library's own collective. Parts follow one another; what holds back the longest holds back all.
/// There is an interval where the longest has one. While the parts between nodes work on a segment, those
/// inside nodes work on the next.
std::variant<Prediction, Unpredicted> simulate_plan(const MpiPlan& plan, const Machine& machine,
                                                    const PointKey& key, const PredictOptions& options) {
  Prediction sum;
  sum.seconds = Seconds{-1};
  std::map<MpiGroup, Interval<double>> times;
  for (const MpiPart& part : plan.parts) {
    if (part.group == MpiGroup::leaders && !machine.links.empty()) {
      return Unpredicted{fmt::format(
          "{} talks between one rank of each node; which ranks are on one is not told where links are listed",
          plan.choice)};
    }
    const PointKey own{.collective = part.algorithm->collective,
                       .algorithm = key.algorithm,
                       .ranks = part.ranks,
                       .bytes = part.bytes,
                       .dtype = key.dtype,
                       .op = key.op};
    auto outcome = simulate_as({.algorithm = part.algorithm, .segments = part.segments, .native = true},
                               machine_of(part, machine), own, options);
    const auto* time = std::get_if<Prediction>(&outcome);
    if (time == nullptr) {
      return outcome;
    }
    Interval<double>& all = times[part.group];
    const Interval<Seconds> of_part = time->interval();
    all.typical += of_part.typical.value;
    all.low += of_part.low.value;
    all.high += of_part.high.value;
    sum = time->seconds > sum.seconds ? *time : sum;
  }
  const double segments = static_cast<double>(key.bytes.value) /
                          static_cast<double>(std::max<std::int64_t>(1, plan.segment.value));
  const auto all = [&](double Interval<double>::*end) {
    double one_after_another = 0;
    double slowest = 0;
    for (const auto& [group, time] : times) {
      one_after_another += time.*end;
      slowest = std::max(slowest, time.*end);
    }
    return Seconds{one_after_another + std::max(0.0, segments - 1) * slowest};
  };
  sum.seconds = all(&Interval<double>::typical);
  if (sum.low && sum.high) {
    sum.low = all(&Interval<double>::low);
    sum.high = all(&Interval<double>::high);
  }
  return sum;
}

}  // namespace

std::optional<MpiCall> mpi_call_on(const Machine& machine, const PointKey& key, Backend backend) {
  if (key.algorithm != kNative || backend_model(machine, backend).own != OwnCollectives::mpi_rules) {
    return std::nullopt;
  }
  const int per_node = build_network(machine, key.ranks).ranks_per_node;
  return MpiCall{key.collective, key.ranks, per_node == 0 ? key.ranks : per_node, key.bytes, key.dtype};
}

std::variant<Prediction, Unpredicted> simulate(const Machine& machine, const PointKey& key,
                                               const PredictOptions& options) {
  if (options.fidelity == Fidelity::nccl) {
    throw bad_input(
        "fidelity nccl predicts NCCL's own all_reduce (native on a machine with GPUs) alone; "
        "use closed_form, replay, flow or auto");
  }
  if (std::string reason = too_many_ranks(key.ranks); !reason.empty()) {
    return Unpredicted{std::move(reason)};
  }
  if (key.ranks == 1) {
    return Prediction{.seconds = {}, .low = {}, .high = {}, .source = build_network(machine, 1).source};
  }
  if (const std::optional<MpiCall> call = mpi_call_on(machine, key, options.backend)) {
    try {
      return simulate_plan(mpi_plan(machine.software.mpi, *call), machine, key, options);
    } catch (const Error& none) {
      return Unpredicted{none.what()};  // Rules that nobody knows, or more messages than anybody waits for.
    }
  }
  const std::variant<Model, Unpredicted> resolved = model_of(machine, key, options.backend);
  if (const auto* unpredicted = std::get_if<Unpredicted>(&resolved)) {
    return *unpredicted;
  }
  return simulate_as(std::get<Model>(resolved), machine, key, options);
}

RankPlacement placement_on(const Machine& machine, int num_ranks) {
  if (const std::string reason = too_many_ranks(num_ranks); !reason.empty()) {
    throw Error(ErrorKind::environment, reason);
  }
  return placement_of(build_network(machine, num_ranks));
}

}  // namespace ringside
