#include "analysis/comparison/held_out_sentence.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "results/codec/record.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/system.hpp"

namespace ringside {
namespace {

/// The class as scripts/accuracy-page calls it.
std::string_view class_of(NcclKind kind, Collective collective) {
  if (collective != Collective::all_reduce) {
    return kind == NcclKind::nvlink ? "other collectives on one node, NVLink or xGMI" : "";
  }
  return kind == NcclKind::nvlink          ? "one node, NVLink or xGMI"
         : kind == NcclKind::rdma          ? "several nodes, InfiniBand or RoCE, two or more GPUs each"
         : kind == NcclKind::other_network ? "several nodes, the rest"
                                           : "one node, PCIe";
}

}  // namespace

std::string held_out_sentence(const std::vector<Point>& points, const Machine& machine) {
  const auto point = std::find_if(points.begin(), points.end(), [](const Point& one) {
    return one.key.algorithm == kNative && one.predicted && one.predicted->source == CostSource::spec;
  });
  if (point == points.end()) {
    return {};
  }
  const auto described = nccl_system(machine, point->key.ranks);
  const auto* system = std::get_if<NcclSystem>(&described);
  const std::string_view name = system == nullptr ? "" : class_of(system->kind(), point->key.collective);
  std::istringstream lines{std::string(kHeldOutErrors)};
  for (std::string line; std::getline(lines, line);) {
    const auto record = std::get<Accuracy>(*parse_record(line));
    if (record.machine_class == name) {
      return fmt::format(
          "native: on {} published systems ({}), each predicted without its source, the mean error of the "
          "median system is {}; {} of the measured times lie inside their 90 % interval.",
          *record.systems, name, percent(record.mape), percent(*record.coverage));
    }
  }
  return {};
}

}  // namespace ringside
