#include "lab/studies/evaluation_lines.hpp"

#include <nlohmann/json.hpp>

#include "analysis/comparison/point_sentences.hpp"
#include "lab/nccl/nccl_meanings.hpp"

namespace ringside::lab {
namespace {

using nlohmann::ordered_json;

ordered_json system_line(const EvaluatedSystem& system) {
  ordered_json line = {{"record", "evaluated_system"}, {"system", system.name},
                       {"group", system.group},        {"class", name(system.machine_class)},
                       {"kind", name(system.kind)},    {"collective", name(system.collective)},
                       {"traits", system.traits}};
  if (system.excluded) {
    line["excluded"] = *system.excluded;
  }
  if (system.uncertain) {
    line["uncertain"] = *system.uncertain;
  }
  return line;
}

ordered_json point_line(const EvaluatedSystem& system, const EvaluatedPoint& point) {
  ordered_json line = {{"record", "evaluated_point"}, {"system", system.name},
                       {"fold", name(point.fold)},    {"ranks", point.ranks},
                       {"bytes", point.bytes.value},  {"measured", point.measured},
                       {"predicted", point.predicted}};
  if (point.interval) {
    line["low"] = point.interval->low;
    line["high"] = point.interval->high;
  }
  line["why"] = limit_sentences(point.limits);
  return line;
}

}  // namespace

std::string evaluation_lines(const AccuracyReport& report, const NcclFit& fit, bool points) {
  std::string text;
  const auto add = [&text](const ordered_json& line) { text += line.dump() + "\n"; };
  add({{"record", "evaluation"},
       {"better", report.better_than_tuner},
       {"compared", report.compared_with_tuner},
       {"better_pcie", report.better_than_tuner_pcie},
       {"compared_pcie", report.compared_with_tuner_pcie},
       {"fitted_to_these", report.fitted_to_these}});
  for (const EvaluatedSystem& system : report.systems) {
    add(system_line(system));
    for (const EvaluatedPoint& point : system.points) {
      if (points && point.model == EvaluatedModel::ringside) {
        add(point_line(system, point));
      }
    }
  }
  for (const std::string& skipped : report.skipped) {
    add({{"record", "not_evaluated"}, {"what", skipped}});
  }
  add({{"record", "nccl_fit"}, {"systems", fit.systems}, {"points", fit.points}, {"data", fit.data_hash}});
  const auto meanings = nccl_parameter_meanings();
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    add({{"record", "nccl_parameter"},
         {"name", name(meanings[i].parameter)},
         {"unit", meanings[i].unit},
         {"meaning", meanings[i].meaning},
         {"guess", meanings[i].guess},
         {"fitted", fit.parameters.values[i]}});
  }
  return text;
}

}  // namespace ringside::lab
