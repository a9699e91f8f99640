// to_yaml() and back: the same machine, to the last bit.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.hpp"

namespace ringside {
namespace {

using testing::HasSubstr;
using testing::Not;

// The same cases on every run; RC_PARAMS in the environment chooses others.
const int kSeeded = ::setenv("RC_PARAMS", "seed=20261101 max_success=300", /*overwrite=*/0);

bool coin() { return *rc::gen::arbitrary<bool>(); }

template <typename T>
std::optional<T> maybe(const std::function<T()>& make) {
  return coin() ? std::optional<T>(make()) : std::nullopt;
}

/// Any double of the magnitude of real quantities, all bits used; or a round number.
double positive(double low, double high) {
  const double part =
      static_cast<double>(*rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 53)) * 0x1p-53;
  const double value = std::exp(std::log(low) + part * (std::log(high) - std::log(low)));
  return coin() ? value : std::max(low, std::round(value / low) * low);
}

Seconds seconds() { return {positive(1e-9, 1e3)}; }
BytesPerSecond bandwidth() { return {positive(1, 1e13)}; }
SecondsPerByte cost() { return coin() ? SecondsPerByte{} : SecondsPerByte{positive(1e-15, 1e-3)}; }
Bytes size() { return {std::max<std::int64_t>(1, std::llround(positive(1, 1e15)))}; }
int whole(int low, int high) { return *rc::gen::inRange(low, high + 1); }

std::string text() {
  return *rc::gen::oneOf(
      rc::gen::element<std::string>("x", "2 × 8 A100", "true", "null", "~", "12", "1e5", "a: b",
                                    "# no comment", "'", "\"", "\\", " leading", "trailing ", "- x", "{a}",
                                    "[b]", "*alias", "&anchor", "@", "%", "🎲", "2026-11-01", "a,b", "p2p",
                                    "=", "<<"),
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>('!', '~'))));
}

IntraLink any_intra() {
  IntraLink link;
  link.kind = *rc::gen::element(IntraKind::nvlink, IntraKind::pcie, IntraKind::xgmi, IntraKind::custom);
  if (link.kind == IntraKind::custom) {
    link.latency = coin() ? Seconds{} : seconds();
    link.bandwidth = bandwidth();
    link.reduction = maybe<SecondsPerByte>(cost);
    link.shared = coin();
    return link;
  }
  link.generation = maybe<int>([&] { return whole(1, link.kind == IntraKind::pcie ? 6 : 4); });
  if (link.kind != IntraKind::pcie) {
    link.links_per_gpu = maybe<int>([] { return whole(1, 18); });
  }
  if (link.kind == IntraKind::nvlink) {
    link.nvswitch = maybe<bool>(coin);
    if (!link.nvswitch.value_or(false)) {
      link.wiring = maybe<std::string>(
          [] { return *rc::gen::element<std::string>("full_mesh", "hybrid_cube_mesh", "bridge_pairs"); });
    }
  }
  if (link.kind == IntraKind::pcie || link.wiring == "bridge_pairs") {
    link.lanes = maybe<int>([] { return *rc::gen::element(1, 4, 8, 16); });
    link.peer_to_peer = maybe<bool>(coin);
    link.gpus_per_switch = maybe<int>([] { return whole(1, 8); });
    link.sockets = maybe<int>([] { return whole(1, 4); });
  }
  return link;
}

InterLink any_inter() {
  InterLink link;
  link.kind =
      *rc::gen::element(InterKind::infiniband, InterKind::roce, InterKind::efa, InterKind::tcpx,
                        InterKind::tcpxo, InterKind::ethernet, InterKind::slingshot, InterKind::custom);
  if (link.kind == InterKind::efa) {
    link.generation = maybe<int>([] { return whole(1, 4); });
  }
  if (link.kind == InterKind::custom) {
    link.latency = seconds();
    link.bandwidth = bandwidth();
  } else {
    link.rate = bandwidth();
    link.gpudirect = maybe<bool>(coin);
  }
  link.nics = whole(1, 32);
  link.oversubscription = coin() ? 1 : positive(1, 10);
  for (int nodes = whole(2, 8); coin() && link.levels.size() < 3; nodes *= whole(2, 4)) {
    link.levels.push_back({.nodes = nodes,
                           .oversubscription = coin() ? 1 : positive(1, 10),
                           .latency = maybe<Seconds>([] { return seconds(); })});
  }
  if (!link.levels.empty()) {
    link.levels.back().pairwise = coin();
  }
  return link;
}

Interval<double> interval(double typical, const std::function<double()>& end) {
  const auto [low, high] = std::minmax({end(), end()});
  return {low, typical, high};
}

Calibrated any_calibrated() {
  Calibrated calibrated;
  calibrated.latency = seconds();
  calibrated.bandwidth = bandwidth();
  calibrated.reduction = cost();
  calibrated.latency_interval = maybe<Interval<double>>(
      [&] { return interval(calibrated.latency.value, [] { return coin() ? 0 : seconds().value; }); });
  calibrated.bandwidth_interval = maybe<Interval<double>>(
      [&] { return interval(calibrated.bandwidth.value, [] { return coin() ? 0 : bandwidth().value; }); });
  calibrated.reduction_interval = maybe<Interval<double>>(
      [&] { return interval(calibrated.reduction.value, [] { return cost().value; }); });
  calibrated.cores = maybe<int>([] { return whole(1, 256); });
  calibrated.between_nodes = maybe<BetweenNodes>([] {
    BetweenNodes between = {.latency = seconds(), .bandwidth = bandwidth(), .messages = whole(1, 8)};
    between.latency_interval = maybe<Interval<double>>(
        [&] { return interval(between.latency.value, [] { return seconds().value; }); });
    between.native_exchange = coin() ? 1 : positive(1, 2);
    between.native_exchange_interval = maybe<Interval<double>>(
        [&] { return interval(between.native_exchange, [] { return positive(1, 2); }); });
    return between;
  });
  std::set<Bytes> sizes;
  for (int i = whole(0, 4); i > 0; --i) {
    sizes.insert(size());
  }
  for (const ProbeKindRow& row : probe_kinds()) {
    for (const int messages : {1, 3}) {
      Curve curve = {.kind = row.kind, .ranks = whole(1, 8), .messages = messages};
      for (const Bytes bytes : sizes) {
        const bool time = row.unit == CurveUnit::seconds;
        curve.points.push_back({.bytes = bytes, .value = time ? seconds().value : cost().value});
      }
      if (row.curve && !sizes.empty()) {
        calibrated.curves.push_back(std::move(curve));
      }
    }
  }
  for (const Bytes bytes : sizes) {
    calibrated.spread.push_back({bytes, positive(1e-3, 1), positive(1e-3, 2)});
    calibrated.reduction_spread.push_back({bytes, positive(1e-3, 1), std::nullopt});
  }
  for (Rank to = whole(1, 3); to > 0; --to) {
    calibrated.pairs.insert(calibrated.pairs.begin(), {0, to, seconds(), bandwidth(), bandwidth()});
  }
  calibrated.backend = coin() ? "" : text();
  return calibrated;
}

Known any_known() {
  if (coin()) {
    return {.collective = coin() ? Collective::all_reduce : Collective::all_gather,
            .algorithm = *rc::gen::element<std::string>("native", "ring", "halving_doubling"),
            .ranks = whole(2, 1000),
            .bytes = size(),
            .seconds = seconds()};
  }
  const bool both = coin();
  Known known;
  known.bandwidth = both || coin() ? std::optional(bandwidth()) : std::nullopt;
  known.latency = both || !known.bandwidth ? std::optional(seconds()) : std::nullopt;
  return known;
}

std::string link_end(int i) {
  return coin() ? "rank " + std::to_string(i) : "switch " + std::to_string(i) + text();
}

Gpu any_gpu() {
  return {.model = text(),
          .vendor = maybe<Vendor>([] { return *rc::gen::element(Vendor::nvidia, Vendor::amd); }),
          .architecture = maybe<Architecture>(
              [] { return *rc::gen::element(Architecture::kepler, Architecture::ada, Architecture::cdna); }),
          .memory_bandwidth = maybe<BytesPerSecond>(bandwidth)};
}

/// A machine that load_machine() could have returned.
Machine any_machine() {
  Machine machine;
  machine.name = text();
  machine.gpus_per_node = maybe<int>([] { return whole(8, 1152); });
  machine.intra = any_intra();
  const bool generation_known = machine.intra->kind == IntraKind::custom || machine.intra->generation;
  machine.gpu = !generation_known || coin() ? std::optional(any_gpu()) : std::nullopt;
  machine.inter = maybe<InterLink>(any_inter);
  for (int i = whole(0, 3); i > 0; --i) {
    machine.links.push_back({.from = link_end(2 * i),
                             .to = link_end(2 * i + 1),
                             .latency = coin() ? Seconds{} : seconds(),
                             .bandwidth = bandwidth(),
                             .duplex = coin()});
  }
  machine.nodes = machine.inter || !machine.links.empty() ? whole(1, 5000) : 1;
  machine.ring_order = maybe<std::vector<Rank>>([] {
    std::vector<Rank> order(static_cast<std::size_t>(whole(1, 8)));
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), order.begin() + whole(0, static_cast<int>(order.size()) - 1), order.end());
    return order;
  });
  for (int i = whole(0, 3); i > 0; --i) {
    machine.stragglers.push_back({.rank = i, .slowdown = positive(1, 100)});
  }
  machine.calibrated = maybe<Calibrated>(any_calibrated);
  for (int i = whole(0, 3); i > 0; --i) {
    machine.known.push_back(any_known());
  }
  machine.software = {
      .nccl = maybe<std::string>(text),
      .rccl = maybe<std::string>(text),
      .mpi = maybe<std::string>(text),
      .nccl_algo = maybe<std::string>([] { return *rc::gen::element<std::string>("Ring", "Tree", "NVLS"); }),
      .nccl_proto =
          maybe<std::string>([] { return *rc::gen::element<std::string>("LL", "LL128", "Simple"); }),
      .processes = maybe<Processes>([] { return *rc::gen::element(Processes::per_gpu, Processes::single); })};
  machine.price = maybe<Price>([] {
    return Price{.per_hour = coin() ? 0 : positive(1e-3, 1e4),
                 .currency = "USD",
                 .as_of = maybe<std::string>(
                     [] { return *rc::gen::element<std::string>("2026", "2026-09", "2026-09-01"); })};
  });
  return machine;
}

/// Where a machine was read is no part of it.
Machine without_places(Machine machine) {
  machine.origin.clear();
  for (LinkSpec& link : machine.links) {
    link.line = 0;
  }
  return machine;
}

RC_GTEST_PROP(RoundTrip, AMachineReadsBackAsTheSameMachine, ()) {
  const Machine machine = any_machine();
  const std::string yaml = to_yaml(machine);
  const Machine back = parse_machine(yaml, "round trip");
  if (!(without_places(back) == machine)) {
    RC_FAIL(yaml + "became\n" + to_yaml(back));
  }
  RC_ASSERT(to_yaml(back) == yaml);
}

Machine custom(Seconds latency, BytesPerSecond bandwidth_given) {
  return {.name = "x", .intra = IntraLink{.latency = latency, .bandwidth = bandwidth_given}};
}

TEST(RoundTrip, NumbersAreWrittenAsPeopleWould) {
  EXPECT_THAT(to_yaml(custom({10e-6}, {10e9})),
              HasSubstr("{kind: custom, latency: 10 us, bandwidth: 10 GB/s}"));
  EXPECT_THAT(to_yaml(custom({12.345678e-6}, {25e9})),
              HasSubstr("latency: 12.345678 us, bandwidth: 25 GB/s"));
  EXPECT_THAT(to_yaml(custom({0}, {9.87e8})), HasSubstr("latency: 0 s, bandwidth: 987 MB/s"));
  EXPECT_THAT(to_yaml(custom({1.5}, {1})), HasSubstr("latency: 1.5 s, bandwidth: 1 B/s"));
}

TEST(RoundTrip, OnlyWhatIsThereIsWritten) {
  EXPECT_EQ(to_yaml(custom({10e-6}, {10e9})),
            "name: \"x\"\nintra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n");
}

}  // namespace
}  // namespace ringside
