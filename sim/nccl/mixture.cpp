#include "sim/nccl/mixture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "sim/nccl/model.hpp"

namespace ringside {

namespace {

/// Hosts whose memory passes GPUs a third of others' rate; no description tells them apart. Of fourteen
/// sources of such hosts six take 2 to 9 times what is predicted of long messages without them, and eight 0.7
/// to 1.9 times (`ringside-lab
/// false-alarms configs/evaluation --format json`: kind pcie_host, band large, but for a host that was busy).
constexpr double kSlowHosts = 6.0 / 14;
constexpr double kSlowHostRate = 0.29;

/// `one in three such hosts goes …`, of the nearest share that is said so.
std::string such_hosts(const HostKind& kind) {
  struct Words {
    double share;
    std::string_view text;
    bool many;
  };
  constexpr auto kWords = std::to_array<Words>({{0.5, "half of", true},
                                                {0.4, "two in five", true},
                                                {1 / 3.0, "one in three", false},
                                                {0.25, "one in four", false},
                                                {0.2, "one in five", false},
                                                {1 / 6.0, "one in six", false},
                                                {1 / 8.0, "one in eight", false},
                                                {0.1, "one in ten", false}});
  const auto nearest = std::min_element(kWords.begin(), kWords.end(), [&](const Words& a, const Words& b) {
    return std::abs(std::log(kind.share / a.share)) < std::abs(std::log(kind.share / b.share));
  });
  return fmt::format("{} such hosts {} and {}", nearest->text, nearest->many ? kind.many : kind.one,
                     nearest->many ? "take" : "takes");
}

std::string times_of(double ratio) {
  constexpr double kAlike = 1.1;
  return ratio < kAlike && ratio > 1 / kAlike
             ? std::string("as predicted for long messages")
             : fmt::format("{:.2g} times the predicted time for long messages", ratio);
}

}  // namespace

std::vector<HostKind> host_kinds(const NcclSystem& system, const NcclParameters& parameters,
                                 Collective collective) {
  if (system.link != GpuLink::pcie || system.nodes > 1 || system.bridged_pairs ||
      system.transport.peer_to_peer >= 1) {
    return {{.one = "copies from GPU to GPU", .many = "copy from GPU to GPU", .share = 1}};
  }
  constexpr double kLong = 1e15;  // Bytes.
  const double predicted = nccl_collective(parameters, system, collective, kLong).seconds;
  const auto ratio = [&](double peer_to_peer, double host_speed) {
    NcclSystem host = system;
    host.transport.peer_to_peer = peer_to_peer;
    host.host_ring_rate *= host_speed;
    return nccl_collective(parameters, host, collective, kLong).seconds / predicted;
  };
  const double peer = system.transport.peer_to_peer;
  std::vector<HostKind> kinds = {{.one = "goes through slow host memory",
                                  .many = "go through slow host memory",
                                  .share = (1 - peer) * kSlowHosts,
                                  .ratio = ratio(0, kSlowHostRate)},
                                 {.one = "goes through fast host memory",
                                  .many = "go through fast host memory",
                                  .share = (1 - peer) * (1 - kSlowHosts),
                                  .ratio = ratio(0, 1)}};
  if (peer > 0) {
    kinds.push_back({.one = "copies from GPU to GPU",
                     .many = "copy from GPU to GPU",
                     .share = peer,
                     .ratio = ratio(1, 1)});
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const HostKind& a, const HostKind& b) { return a.share > b.share; });
  return kinds;
}

std::string mixture_sentence(const std::vector<HostKind>& kinds) {
  if (kinds.size() < 2) {
    return {};
  }
  const HostKind& likeliest = kinds.front();
  std::string text = fmt::format("most likely ({}) it {} and takes {}", percent(likeliest.share),
                                 likeliest.one, times_of(likeliest.ratio));
  for (auto kind = std::next(kinds.begin()); kind != kinds.end(); ++kind) {
    text += fmt::format("; {} {}", such_hosts(*kind), times_of(kind->ratio));
  }
  return text;
}

std::string known_kind_sentence(const std::vector<HostKind>& kinds, double ratio) {
  if (kinds.size() < 2) {
    return {};
  }
  const auto nearest =
      std::min_element(kinds.begin(), kinds.end(), [&](const HostKind& a, const HostKind& b) {
        return std::abs(std::log(ratio / a.ratio)) < std::abs(std::log(ratio / b.ratio));
      });
  return fmt::format("by its known times this host {}, or is as fast as such hosts", nearest->one);
}

}  // namespace ringside
