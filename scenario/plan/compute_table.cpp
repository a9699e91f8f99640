#include "scenario/plan/compute_table.hpp"

#include <fmt/format.h>

#include "scenario/plan/plan_values.hpp"
#include "scenario/yaml/keys.hpp"

namespace ringside {
namespace {

constexpr int kMaxBatch = 1'000'000'000;

MapTable<EfficiencyMap> efficiency_table() {
  MapTable<EfficiencyMap> table{.form = "a map such as `{default: [20 %, 40 %], geforce: [30 %, 55 %]}`",
                                .rows = {}};
  const auto add = [&](const std::string& key) {
    const ValueType<Interval<double>> type = share_range_type();
    table.rows.push_back({.key = description(key, type, {}),
                          .below = {},
                          .read =
                              [type, key](Reader& reader, const Value& value, EfficiencyMap& map) {
                                if (const auto range = type.read(reader, value)) {
                                  map.ranges[key] = *range;
                                }
                              },
                          .given = {},
                          .write = {}});
  };
  add("default");
  for (const std::string& gpu_class : gpu_classes()) {
    add(gpu_class);
  }
  return table;
}

MapTable<MeasuredDraft> measured_table() {
  return {.form = "a map such as `{gpu: RTX 3090, samples_per_second: 568}`",
          .rows = {row("gpu", &MeasuredDraft::gpu, text_type("a GPU model such as `RTX 3090`"),
                       {.required = true}),
                   row("samples_per_second", &MeasuredDraft::samples_per_second,
                       positive_number_type("a number of samples per second such as `568`"), {}),
                   row("step_time", &MeasuredDraft::step_time, duration_type(), {}),
                   row("batch", &MeasuredDraft::batch, whole_number_type({.min = 1, .max = kMaxBatch}), {})},
          .check = [](Reader& reader, const Value& value, MeasuredDraft& draft) {
            if (draft.samples_per_second.has_value() == draft.step_time.has_value()) {
              reader.fail(value, "says either `samples_per_second` or `step_time`");
            }
          }};
}

}  // namespace

MapTable<ComputeDraft> compute_table() {
  return {
      .form = "a map such as `{precision: tf32, efficiency: {default: [20 %, 40 %]}}`",
      .rows = {
          row("precision", &ComputeDraft::precision,
              choice_type<Precision>("precision", {Precision::float32, Precision::tf32, Precision::float16,
                                                   Precision::bfloat16, Precision::float8}),
              {.default_value = "float32"}),
          row("family", &ComputeDraft::family,
              choice_type<ModelFamily>(
                  "family of models",
                  {ModelFamily::convolutional, ModelFamily::detection, ModelFamily::transformer}),
              {}),
          row("efficiency", &ComputeDraft::efficiency, map_type(efficiency_table()), {}),
          row("measured", &ComputeDraft::measured,
              list_type(map_type(measured_table()),
                        {.form = "a list of maps such as `{gpu: RTX 3090, samples_per_second: 568}`"}),
              {})}};
}

std::vector<MeasuredSpeed> measured_speeds(Reader& reader, const Value& root, const ComputeDraft& compute,
                                           const Workload& workload) {
  std::vector<MeasuredSpeed> speeds;
  for (const MeasuredDraft& draft : compute.measured) {
    const std::optional<int> batch = draft.batch ? draft.batch : workload.batch_per_gpu;
    if (draft.step_time && !batch) {
      reader.fail(reader.find(root, "compute").value_or(root),
                  fmt::format("the step time of {} needs its `batch`", draft.gpu));
      continue;
    }
    speeds.push_back({.gpu = draft.gpu,
                      .samples_per_second = draft.samples_per_second ? *draft.samples_per_second
                                                                     : *batch / draft.step_time->value});
  }
  return speeds;
}

}  // namespace ringside
