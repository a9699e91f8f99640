#include "lab/evaluation/false_alarms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <variant>

#include "common/error.hpp"
#include "sim/nccl/model.hpp"
#include "sim/nccl/system.hpp"

namespace ringside {
namespace {

// What is put in.
constexpr auto kInjected = std::to_array<Cause>(
    {Cause::peer_to_peer_off, Cause::slots_half, Cause::links_half, Cause::nvls_off, Cause::half_nics,
     Cause::one_nic, Cause::shared_nic, Cause::nics_half_rate, Cause::tcp, Cause::gpudirect_off, Cause::acs,
     Cause::protocol_ll, Cause::one_process});

const NcclFit& fit_without(const std::string& group, const NcclFit& all,
                           std::span<const NcclStudy::Fold> folds) {
  const auto found = std::find_if(folds.begin(), folds.end(),
                                  [&](const NcclStudy::Fold& fold) { return fold.group == group; });
  return found == folds.end() ? all : found->fit;
}

/// Only the largest number of ranks that was measured: a check is of one run.
std::vector<Point> run_of(const EvaluationSystem& system) {
  int ranks = 0;
  for (const Point& point : system.points) {
    ranks = std::max(ranks, point.key.ranks);
  }
  std::vector<Point> result;
  std::copy_if(system.points.begin(), system.points.end(), std::back_inserter(result),
               [&](const Point& point) { return point.key.ranks == ranks; });
  return result;
}

/// Nothing for a machine that contradicts itself, or that is forced to what does not exist there.
std::optional<NcclSystem> system_of(const Machine& machine, const Point& point, const NcclFit& fit) {
  try {
    const auto system = nccl_system(machine, point.key.ranks);
    if (const auto* found = std::get_if<NcclSystem>(&system)) {
      nccl_collective(fit.parameters, *found, point.key.collective,
                      static_cast<double>(point.key.bytes.value));
      return *found;
    }
  } catch (const Error&) {
    // The cause cannot apply.
  }
  return std::nullopt;
}

double seconds_of(const NcclSystem& system, const Point& point, const NcclFit& fit) {
  return nccl_collective(fit.parameters, system, point.key.collective,
                         static_cast<double>(point.key.bytes.value))
      .seconds;
}

/// The points with a cause in them; nothing where it cannot apply or slows nothing.
struct Slowed {
  std::vector<Point> points = {};
  bool beyond_spread = false;  ///< In the median of some band.
};
std::optional<Slowed> slowed(const MachineCheck& healthy, const Machine& machine, Cause cause,
                             const NcclFit& fit) {
  const Machine changed = with_cause(machine, cause);
  const auto before = system_of(machine, healthy.points.front(), fit);
  const auto after = changed == machine ? std::nullopt : system_of(changed, healthy.points.front(), fit);
  if (!before || !after) {
    return std::nullopt;
  }
  Slowed result;
  bool any = false;
  std::map<SizeBand, std::vector<double>> excess;
  for (const Point& point : healthy.points) {
    Point slow = point;
    const double by = seconds_of(*after, point, fit) / seconds_of(*before, point, fit);
    slow.measured->seconds.value *= by;
    any = any || by > 1.02;
    const Prediction& predicted = *point.predicted;
    excess[size_band(static_cast<double>(point.key.bytes.value))].push_back(
        std::log(by) - std::log(predicted.high->value / predicted.seconds.value));
    result.points.push_back(std::move(slow));
  }
  for (auto& [band, values] : excess) {
    std::sort(values.begin(), values.end());
    result.beyond_spread = result.beyond_spread || values[values.size() / 2] > 0;
  }
  return any ? std::optional(std::move(result)) : std::nullopt;
}

/// Whether two causes are one as far as times can tell: within a twentieth at every size.
bool alike(const Machine& machine, Cause a, Cause b, const std::vector<Point>& points, const NcclFit& fit) {
  const auto of_a = system_of(with_cause(machine, a), points.front(), fit);
  const auto of_b = system_of(with_cause(machine, b), points.front(), fit);
  return of_a && of_b && std::all_of(points.begin(), points.end(), [&](const Point& point) {
           return std::abs(std::log(seconds_of(*of_a, point, fit) / seconds_of(*of_b, point, fit))) < 0.05;
         });
}

bool among_first_two(const MachineCheck& check, const Machine& machine, Cause cause, const NcclFit& fit) {
  int seen = 0;
  for (const SuspectedCause& suspected : check.causes) {
    if (suspected.cause == Cause::none || suspected.cause == Cause::something_else) {
      continue;
    }
    if (suspected.cause == cause || alike(machine, suspected.cause, cause, check.points, fit)) {
      return true;
    }
    if (++seen == 2) {
      return false;
    }
  }
  return false;
}

}  // namespace

FalseAlarms false_alarms(std::span<const EvaluationSystem> systems, const NcclFit& all,
                         std::span<const NcclStudy::Fold> folds) {
  FalseAlarms result;
  for (const Cause cause : kInjected) {
    result.injected.push_back({.cause = cause});
  }
  struct Shares {
    double machines = 0;
    double alarms = 0;
    double too_fast = 0;
  };
  std::map<std::string, Shares> sources;
  for (const EvaluationSystem& system : systems) {
    const NcclFit& fit = fit_without(system.group, all, folds);
    MachineCheck check;
    try {
      check = check_machine(system.machine, run_of(system), {}, fit);
    } catch (const Error&) {
      continue;  // A machine that the model refuses; `evaluate` says why.
    }
    if (check.points.empty()) {
      continue;
    }
    const bool healthy = !system.excluded && !system.uncertain;
    const bool too_fast = std::any_of(check.bands.begin(), check.bands.end(), [](const BandVerdict& band) {
      return band.standing == Standing::faster;
    });
    const auto described = system_of(system.machine, check.points.front(), fit);
    result.systems.push_back({.name = system.name,
                              .group = system.group,
                              .kind = described->kind(),
                              .healthy = healthy,
                              .why_not = system.excluded.value_or(system.uncertain.value_or("")),
                              .alarmed = check.alarmed(),
                              .too_fast = too_fast,
                              .bands = check.bands});
    if (!healthy) {
      continue;
    }
    Shares& shares = sources[system.group];
    shares.machines += 1;
    shares.alarms += check.alarmed() ? 1 : 0;
    shares.too_fast += too_fast ? 1 : 0;
    for (InjectedCause& injected : result.injected) {
      const auto slow = slowed(check, system.machine, injected.cause, fit);
      if (!slow) {
        continue;
      }
      const MachineCheck of_slow = check_machine(system.machine, slow->points, {}, fit);
      ++(slow->beyond_spread ? injected.machines : injected.below_spread);
      if (of_slow.alarmed()) {
        ++(slow->beyond_spread ? injected.alarmed : injected.alarmed_below);
        if (slow->beyond_spread && among_first_two(of_slow, system.machine, injected.cause, fit)) {
          ++injected.among_first_two;
        }
      }
    }
  }
  double machines = 0;
  for (const auto& [group, shares] : sources) {
    result.by_source += shares.alarms / shares.machines / static_cast<double>(sources.size());
    result.too_fast_by_source += shares.too_fast / shares.machines / static_cast<double>(sources.size());
    result.by_machine += shares.alarms;
    machines += shares.machines;
  }
  result.by_machine /= std::max(machines, 1.0);
  return result;
}

}  // namespace ringside
