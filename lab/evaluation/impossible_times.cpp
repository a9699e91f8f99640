#include "lab/evaluation/impossible_times.hpp"

#include <variant>

#include <fmt/format.h>

#include "common/units.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/system.hpp"

namespace ringside {

namespace {

/// Descriptions are no better: a wrong generation or number of links makes a factor of two.
constexpr double kTooFast = 3;

/// What the links of a rank, or the NICs of a node, carry in one direction.
struct Way {
  double rate = 0;  ///< GB/s by the data sheet.
  int parts = 2;    ///< Ranks or nodes that are joined by it.
};

Way way_of(const NcclSystem& system) {
  return system.nodes > 1 ? Way{.rate = system.network_rate, .parts = system.nodes}
                          : Way{.rate = system.link_rate, .parts = system.ranks};
}

/// Share of the whole message that the receiver of most of it cannot do without.
double least_share(Collective collective, int parts) {
  const bool holds_its_part = collective == Collective::all_gather ||
                              collective == Collective::reduce_scatter ||
                              collective == Collective::all_to_all;
  return holds_its_part ? (parts - 1.0) / parts : 1;
}

}  // namespace

std::vector<std::string> impossible_times(const EvaluationSystem& system) {
  std::vector<std::string> sentences;
  for (const Point& point : system.points) {
    if (!point.measured || point.measured->outcome != Outcome::ok || point.key.ranks < 2) {
      continue;
    }
    const auto outcome = nccl_system(system.machine, point.key.ranks);
    const auto* described = std::get_if<NcclSystem>(&outcome);
    if (described == nullptr) {
      continue;
    }
    const Way way = way_of(*described);
    const double bytes =
        static_cast<double>(point.key.bytes.value) * least_share(point.key.collective, way.parts);
    const double least = bytes / (way.rate * kGiga);
    const double seconds = point.measured->seconds.value;
    if (way.rate > 0 && seconds * kTooFast < least) {
      sentences.push_back(fmt::format(
          "the row of {} bytes says {:.4g} us, but {} of {:.4g} GB/s need {:.0f} us at the least; is another "
          "column meant, or is the machine another one?",
          point.key.bytes.value, seconds / kMicro,
          described->nodes > 1 ? "the NICs of a node" : "the links of a GPU", way.rate, least / kMicro));
    }
  }
  return sentences;
}

}  // namespace ringside
