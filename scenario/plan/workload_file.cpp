#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "scenario/keys.hpp"
#include "scenario/plan/plan_parts.hpp"
#include "scenario/plan/plan_values.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

// --- What a workload says of how fast one GPU computes -----------------------------------------------------

using Efficiency = std::map<std::string, Interval<double>>;

constexpr int kMaxBatch = 1'000'000'000;

MapTable<Efficiency> efficiency_table() {
  MapTable<Efficiency> table{.form = "a map such as `{default: [20 %, 40 %], geforce: [30 %, 55 %]}`",
                             .rows = {}};
  const auto add = [&](const std::string& key) {
    const ValueType<Interval<double>> type = share_range_type();
    table.rows.push_back({.key = description(key, type, {}),
                          .below = {},
                          .read =
                              [type, key](Reader& reader, const Value& value, Efficiency& ranges) {
                                if (const auto range = type.read(reader, value)) {
                                  ranges[key] = *range;
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

MapTable<MeasuredSpeed> measured_table() {
  return {.form = "a map such as `{gpu: RTX 3090, samples_per_second: 568}`",
          .rows = {row<&MeasuredSpeed::gpu>(text_type("a GPU model such as `RTX 3090`"), {.required = true}),
                   row<&MeasuredSpeed::samples_per_second>(
                       positive_number_type("a number of samples per second such as `568`")),
                   row<&MeasuredSpeed::step_time>(duration_type()),
                   row<&MeasuredSpeed::batch>(whole_number_type({.min = 1, .max = kMaxBatch}))},
          .check = [](Reader& reader, const Value& value, MeasuredSpeed& speed) {
            if ((speed.samples_per_second > 0) == speed.step_time.has_value()) {
              reader.fail(value, "says either `samples_per_second` or `step_time`");
            }
          }};
}

MapTable<ComputeSpeed> compute_table() {
  return {.form = "a map such as `{precision: tf32, efficiency: {default: [20 %, 40 %]}}`",
          .rows = {row<&ComputeSpeed::precision>(choice_type<Precision>("precision"),
                                                 {.default_value = "float32"}),
                   row<&ComputeSpeed::family>(choice_type<ModelFamily>("family of models")),
                   row<&ComputeSpeed::efficiency>(map_type(efficiency_table())),
                   row<&ComputeSpeed::measured>(list_type(
                       map_type(measured_table()),
                       {.form = "a list of maps such as `{gpu: RTX 3090, samples_per_second: 568}`"}))}};
}

/// A workload while it is read; the tensors come from one of three keys.
struct WorkloadDraft : Workload {
  std::optional<Value> tensors_value;
  std::optional<Value> model;
  std::optional<Value> transformer_value;
};

MapTable<Tensor> tensor_table() {
  return {.form = "a map such as `{name: fc.weight, elements: 5120}`",
          .rows = {row<&Tensor::name>(text_type("a name such as `fc.weight`"), {.required = true}),
                   row<&Tensor::elements>(count_type(1), {.required = true}),
                   row<&Tensor::forward_flops>(work_type()), row<&Tensor::activations>(count_type(1))}};
}

std::string tensors_form() {
  return "a CSV file with the columns name and elements, or a list of maps such as `{name: fc.weight, "
         "elements: 5120}`";
}

MapTable<MemoryUse> memory_table() {
  return {
      .form = "a map such as `{optimizer: adam, activations: 120 MB}`",
      .rows = {row<&MemoryUse::optimizer>(choice_type<Optimizer>("optimizer"), {.default_value = "momentum"}),
               row<&MemoryUse::activations>(size_type())}};
}

// --- The workload ------------------------------------------------------------------------------------------

MapTable<WorkloadDraft> workload_table() {
  const auto batch = whole_number_type({.min = 1, .max = kMaxBatch});
  return {
      .form = "a map such as `{model: resnet50, batch_per_gpu: 64, …}`",
      .rows = {row<&WorkloadDraft::name, WorkloadDraft>(text_type("a name such as `ResNet-50`")),
               later<&WorkloadDraft::model>("a model such as `resnet50`"),
               later("tensors", &WorkloadDraft::tensors_value, tensors_form(), {}, keys_of(tensor_table())),
               later("transformer", &WorkloadDraft::transformer_value, transformer_form(), {},
                     transformer_keys()),
               row<&WorkloadDraft::parameters, WorkloadDraft>(count_type(1)),
               row<&WorkloadDraft::gradients, WorkloadDraft>(
                   choice_type<DataType>("dtype", {DataType::float32, DataType::float16, DataType::bfloat16}),
                   {.default_value = "float32"}),
               row<&WorkloadDraft::forward_flops, WorkloadDraft>(work_type()),
               row<&WorkloadDraft::backward_over_forward, WorkloadDraft>(
                   positive_number_type("a number such as `2`"), {.default_value = "2"}),
               row<&WorkloadDraft::batch_per_gpu, WorkloadDraft>(batch),
               row<&WorkloadDraft::global_batch, WorkloadDraft>(batch),
               row<&WorkloadDraft::samples, WorkloadDraft>(positive_number_type("a number of samples")),
               row<&WorkloadDraft::tokens, WorkloadDraft>(tokens_type()),
               row<&WorkloadDraft::epochs, WorkloadDraft>(positive_number_type("a number of epochs"),
                                                          {.default_value = "1"}),
               row<&WorkloadDraft::input_per_node, WorkloadDraft>(
                   positive_number_type("a number of samples per second such as `4000`")),
               row<&WorkloadDraft::compute, WorkloadDraft>(map_type(compute_table())),
               row<&WorkloadDraft::memory, WorkloadDraft>(map_type(memory_table()))},
      .on_one_line = false,
  };
}

/// The tensors of a file; what is wrong with it becomes a problem of `value`.
std::vector<Tensor> tensors_of_file(Reader& reader, const Value& value, const std::filesystem::path& file) {
  try {
    return load_tensors(file.lexically_normal());
  } catch (const Error& error) {
    reader.fail(value, error.what());
    return {};
  }
}

std::vector<Tensor> read_tensors(Reader& reader, const WorkloadDraft& draft,
                                 const std::filesystem::path& folder, const std::filesystem::path& models) {
  if (draft.model && draft.tensors_value) {
    reader.fail(*draft.tensors_value, "stands beside `model`, which has its own tensors; write one of them");
    return {};
  }
  if (draft.model) {
    const auto model = word_type("model", names_in(models, ".csv")).read(reader, *draft.model);
    return model ? tensors_of_file(reader, *draft.model, models / (*model + ".csv")) : std::vector<Tensor>{};
  }
  if (draft.tensors_value && draft.tensors_value->node.IsScalar()) {
    const auto file = text_type(tensors_form()).read(reader, *draft.tensors_value);
    return file ? tensors_of_file(reader, *draft.tensors_value, folder / *file) : std::vector<Tensor>{};
  }
  if (draft.tensors_value) {
    return list_type(map_type(tensor_table()), {.form = tensors_form()})
        .read(reader, *draft.tensors_value)
        .value_or(std::vector<Tensor>{});
  }
  return {};
}

void check_parameters(Reader& reader, const Value& root, Workload& workload) {
  const std::int64_t sum =
      std::accumulate(workload.tensors.begin(), workload.tensors.end(), std::int64_t{0},
                      [](std::int64_t total, const Tensor& tensor) { return total + tensor.elements; });
  if (workload.tensors.empty()) {
    if (workload.parameters == 0) {
      reader.fail(root, "says nothing of its parameters; write `model`, `tensors` or `parameters`");
    }
    return;
  }
  if (workload.parameters != 0 && workload.parameters != sum) {
    reader.fail(reader.find(root, "parameters").value_or(root), "is {}, but the {} tensors have {} elements",
                workload.parameters, workload.tensors.size(), sum);
  }
  workload.parameters = sum;
}

void check_batch(Reader& reader, const Value& root, bool computing) {
  const bool one = reader.find(root, "batch_per_gpu").has_value();
  const bool all = reader.find(root, "global_batch").has_value();
  if (one == all && (one || computing)) {
    reader.fail(all ? *reader.find(root, "global_batch") : root,
                one ? "stands beside `batch_per_gpu`; write one of them"
                    : "says no batch; write `batch_per_gpu` or `global_batch`");
  }
}

/// `place`: the key `compute`. `readable`: nothing else is wrong with the workload.
void check_compute(Reader& reader, const Value& place, bool readable, Workload& workload) {
  ComputeSpeed& compute = workload.compute;
  for (MeasuredSpeed& speed : compute.measured) {
    speed.batch = speed.batch ? speed.batch : workload.batch_per_gpu;
    if (speed.step_time && !speed.batch) {
      reader.fail(place, "the step time of {} needs its `batch`", speed.gpu);
    } else if (speed.step_time) {
      speed.samples_per_second = *speed.batch / speed.step_time->value;
    }
  }
  if (readable && !computes(workload)) {
    reader.fail(place, "says no speed; write `family`, `efficiency` or `measured`");
  }
  if (readable && (!compute.efficiency.empty() || compute.family) && workload.forward_flops == 0) {
    reader.fail(place, "its speed follows from its work, so write `forward_flops` too");
  }
}

/// Samples that hold the tokens of an epoch.
void count_samples(Reader& reader, const Value& root, Workload& workload) {
  if (!workload.tokens) {
    return;
  }
  const Value tokens = *reader.find(root, "tokens");
  if (reader.find(root, "samples")) {
    reader.fail(tokens, "stands beside `samples`: both state the length of an epoch; write one of them");
  }
  if (!workload.transformer) {
    if (!reader.find(root, "transformer")) {  // One that cannot be read has been said to be so.
      reader.fail(tokens, "is of a language model, and here is no `transformer`; write `samples`");
    }
    return;
  }
  workload.samples =
      std::ceil(static_cast<double>(*workload.tokens) / static_cast<double>(workload.transformer->sequence));
}

}  // namespace

std::vector<std::string> names_in(const std::filesystem::path& folder, const char* extension) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == extension) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

std::optional<Workload> read_workload(Reader& reader, const Value& value, const std::filesystem::path& folder,
                                      const std::filesystem::path& models) {
  const std::size_t before = reader.num_problems();
  WorkloadDraft workload;
  MapTable<WorkloadDraft> table = workload_table();
  // A draft is wanted even where keys have problems: what does not depend on them is still worth checking.
  table.check = [&](Reader&, const Value&, WorkloadDraft& read) { workload = read; };
  read_map(reader, value, table);
  if (!value.node.IsMap()) {
    return std::nullopt;
  }
  workload.tensors = read_tensors(reader, workload, folder, models);
  if (workload.transformer_value) {
    read_model_numbers(reader, *workload.transformer_value, folder, workload);
  }
  if (reader.num_problems() == before) {
    check_parameters(reader, value, workload);
  }
  count_samples(reader, value, workload);
  const std::optional<Value> compute = reader.find(value, "compute");
  check_batch(reader, value, compute || workload.transformer);
  if (workload.transformer && !compute) {
    workload.compute.precision = Precision::bfloat16;
  }
  if (workload.forward_flops == 0) {
    for (const Tensor& tensor : workload.tensors) {
      workload.forward_flops += tensor.forward_flops;
    }
  }
  if (compute) {
    check_compute(reader, *compute, reader.num_problems() == before, workload);
  }
  if (workload.name.empty()) {
    workload.name = std::filesystem::path(reader.file()).stem().string();
  }
  workload.file = reader.file();
  return reader.num_problems() == before ? std::optional<Workload>(std::move(workload)) : std::nullopt;
}

Workload load_workload(const std::filesystem::path& file, const std::filesystem::path& models) {
  std::vector<Problem> problems;
  return *read_whole(read_document(file, file.string(), problems), problems, [&](Reader& reader) {
    return read_workload(reader, reader.root(), file.parent_path(), models);
  });
}

std::vector<KeyDescription> workload_keys() { return keys_of(workload_table()); }

}  // namespace ringside
