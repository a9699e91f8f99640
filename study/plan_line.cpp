#include "study/plan_line.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/numbers.hpp"
#include "common/units.hpp"
#include "scenario/plan/plan_text.hpp"
#include "scenario/plan/workload.hpp"
#include "sim/nccl/gpu_models.hpp"
#include "study/inputs/named_offers.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

// --- The workload -----------------------------------------------------------------------------------------------------

struct Model {
  std::string name;  ///< What the plan is called.
  fs::path file;
  bool shipped = true;
};

Model model_named(const std::string& text) {
  std::error_code ignored;
  if (fs::is_regular_file(text, ignored)) {
    return {.name = fs::path(text).stem().string(), .file = fs::absolute(text), .shipped = false};
  }
  std::vector<std::string> names;
  std::vector<fs::path> beginning;
  for (const fs::path& file : shipped_configs("workloads")) {
    names.push_back(file.stem().string());
    if (names.back() == text) {
      return {.name = names.back(), .file = file};
    }
    if (names.back().starts_with(text)) {
      beginning.push_back(file);
    }
  }
  if (beginning.size() == 1) {
    return {.name = text, .file = beginning.front()};
  }
  throw Error(ErrorKind::bad_input,
              fmt::format("--model '{}': is neither a file nor one workload of `ringside list workloads`; {}",
                          text, unknown_name("workload", text, names)));
}

/// `88 MB` as float32 gradients.
std::string gradients_only(const std::string& text) {
  Bytes size;
  try {
    size = parse_bytes(text);
  } catch (const Error& error) {
    reject_part("--gradients", text, error.what());
  }
  constexpr std::int64_t kFloat32 = 4;
  if (size.value < kFloat32 || size.value % kFloat32 != 0) {
    reject_part("--gradients", text, "is no whole number of float32 gradients of 4 bytes");
  }
  return fmt::format("workload:\n  parameters: {}  # in float32: {}\n", size.value / kFloat32, text);
}

std::string in_yaml_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("''") : std::string(1, c);
  }
  return quoted + "'";
}

std::string yaml_of(const NamedOffer& offer) {
  const std::string machine =
      offer.reference ? in_yaml_quotes(*offer.reference) : machine_on_one_line(offer.machine);
  return fmt::format("  - {{name: {}, machine: {}{}}}\n", in_yaml_quotes(offer.name), machine,
                     offer.price ? ", price: " + *offer.price : std::string{});
}

std::string workload_yaml(const PlanLine& line, const Model& model, const std::vector<KnownPart>& known) {
  WorkloadChanges changes;
  if (line.batch) {
    changes.batch_per_gpu = parse_number<int>(*line.batch);
    if (!changes.batch_per_gpu || *changes.batch_per_gpu < 1) {
      reject_part("--batch", *line.batch, "is not a number of samples of one GPU, such as 64");
    }
  }
  for (const KnownPart& part : known) {
    if (part.samples_per_second) {
      const auto sheet = find_gpu_sheet(counted(part.of).what);
      if (!sheet) {
        reject_part("--known", part.text,
                    unknown_name("GPU model", counted(part.of).what, gpu_model_names()));
      }
      changes.measured.emplace_back(sheet->model, *part.samples_per_second);
    }
  }
  if (!changes.any()) {
    return fmt::format("workload: {}\n",
                       model.shipped ? model.file.stem().string() : in_yaml_quotes(model.file.string()));
  }
  // What is wrong with the file is said before a part of it is written elsewhere.
  load_workload(model.file, configs_directory().value_or("configs") / "workloads" / "tensors");
  return "workload:\n" + changed_workload(model.file, changes);
}

void check_flags(const PlanLine& line) {
  const auto refuse = [](const char* what) { throw Error(ErrorKind::bad_input, what); };
  if (line.model && line.gradients) {
    refuse("--gradients stands beside --model, which has its own; write one of them");
  }
  if (!line.model && !line.gradients) {
    refuse("--gpus needs --model, such as resnet34, or --gradients, such as '88 MB'");
  }
  if (line.gradients && line.batch) {
    refuse("--batch is of a model, and --gradients names none");
  }
}

}  // namespace

WrittenPlan write_plan(const PlanLine& line, const std::string& command, const KnownNames& known) {
  check_flags(line);
  std::vector<KnownPart> parts;
  std::transform(line.known.begin(), line.known.end(), std::back_inserter(parts), read_known_part);
  std::vector<NamedOffer> offers = named_offers(line.gpus, line.bandwidth, parts, known);
  for (const KnownPart& part : parts) {
    if (!part.used || (part.samples_per_second && line.gradients)) {
      reject_part("--known", part.text,
                  part.used ? "is a speed of computing, which --gradients does not ask for"
                            : fmt::format("nothing of --gpus '{}' is {}", line.gpus, part.of));
    }
  }
  WrittenPlan plan;
  std::string workload;
  if (line.model) {
    const Model model = model_named(*line.model);
    plan.name = model.name;
    workload = workload_yaml(line, model, parts);
  } else {
    plan.name = *line.gradients + " of gradients";
    workload = gradients_only(*line.gradients);
  }
  plan.yaml = fmt::format("# {}\nname: {}\n{}offers:\n", command, in_yaml_quotes(plan.name), workload);
  for (NamedOffer& offer : offers) {
    plan.yaml += yaml_of(offer);
    plan.assumptions.push_back(std::move(offer.assumptions));
  }
  return plan;
}

}  // namespace ringside::study
