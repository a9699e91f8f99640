#include "study/plan/plan_line.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/names.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "scenario/plan/plan_text.hpp"
#include "scenario/plan/plan_values.hpp"
#include "scenario/plan/sharding.hpp"
#include "scenario/plan/transformer.hpp"
#include "scenario/plan/workload.hpp"
#include "sim/topology/gpu_models.hpp"
#include "study/inputs/named_offers.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

// --- The workload ------------------------------------------------------------------------------------------

struct Model {
  std::string name;  ///< What the plan is called.
  fs::path file;
  bool shipped = true;
};

Model model_named(const std::string& text) {
  std::error_code ignored;
  if (fs::path(text).extension() == ".json") {
    // Hugging Face calls every config the same; its folder says which model it is.
    const fs::path folder = fs::absolute(text).parent_path().filename();
    const bool named = fs::path(text).filename() == "config.json" && !folder.empty();
    return {.name = named ? folder.string() : fs::path(text).stem().string(), .file = text, .shipped = false};
  }
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
  // A network that ships for several data sets is that of the data set whose speeds are published.
  const auto usual = std::ranges::find_if(
      beginning, [&](const fs::path& file) { return file.stem() == text + "-imagenet"; });
  if (usual != beginning.end()) {
    beginning = {*usual};
  }
  if (beginning.size() == 1) {
    return {.name = text, .file = beginning.front()};
  }
  throw bad_input("--model '{}': is neither a file nor one workload of `ringside list workloads`; {}", text,
                  unknown_name("workload", text, names));
}

/// `22 M`, `22 M parameters` or `22000000 parameters`; none = not said as a number of parameters.
std::optional<std::int64_t> parameters_of(std::string_view text) {
  constexpr std::string_view kWord = "parameters";
  if (text.ends_with(kWord)) {
    text.remove_suffix(kWord.size());
    return parse_count(text);
  }
  return text.ends_with('M') ? parse_count(text) : std::nullopt;  // `22 B` are bytes.
}

/// `88 MB`, or `22 M` parameters, as float32 gradients.
std::string gradients_only(const std::string& text) {
  if (const auto parameters = parameters_of(text)) {
    return fmt::format("workload:\n  parameters: {}  # in float32: {}\n", *parameters,
                       format(Bytes{4 * *parameters}));
  }
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
  const bool part = !offer.reference && offer.machine.gpus_per_node.value_or(offer.gpus) != offer.gpus;
  return fmt::format("  - {{name: {}, machine: {}{}{}}}\n", in_yaml_quotes(offer.name), machine,
                     part ? fmt::format(", gpus: {}", offer.gpus) : "",
                     offer.price ? ", price: " + *offer.price : std::string{});
}

/// A number above zero that the flag says, if it is there.
template <typename N>
std::optional<N> positive(const std::string& flag, const std::optional<std::string>& text,
                          const std::string& problem) {
  const std::optional<N> number = text ? parse_number<N>(*text) : std::nullopt;
  if (text && (!number || *number <= 0)) {
    reject_part(flag, *text, problem);
  }
  return number;
}

/// How long the run is, where the line says so.
void set_length(const PlanLine& line, const Model& model, const Workload& loaded, WorkloadChanges& changes) {
  if (line.tokens) {
    if (!loaded.transformer) {
      reject_part("--tokens", *line.tokens, "{} is no language model; say --epochs", model.name);
    }
    changes.tokens = parse_count(*line.tokens);
    if (!changes.tokens) {
      reject_part("--tokens", *line.tokens, "is not a number of tokens, such as '300 B' or 1e9");
    }
  }
  changes.epochs = positive<double>("--epochs", line.epochs, "is not a number of epochs, such as 90");
  if (line.epochs && (loaded.samples <= 0 || (changes.sequence && !loaded.tokens))) {
    reject_part("--epochs", *line.epochs, "how long an epoch {} is not known; say {}",
                changes.sequence ? "of such samples" : "of " + model.name,
                loaded.transformer ? "--tokens" : "`samples` in its file");
  }
}

std::string workload_yaml(const PlanLine& line, const Model& model, const std::vector<KnownPart>& known) {
  WorkloadChanges changes;
  changes.batch_per_gpu =
      positive<int>("--batch", line.batch, "is not a number of samples of one GPU, such as 64");
  changes.sequence =
      positive<std::int64_t>("--sequence", line.sequence, "is not a number of tokens, such as 4096");
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
  const bool config = model.file.extension() == ".json";
  if (!config && changes == WorkloadChanges{} && !line.tokens && !line.epochs) {
    return fmt::format("workload: {}\n",
                       model.shipped ? model.file.stem().string() : in_yaml_quotes(model.file.string()));
  }
  // What is wrong with the file is said before a part of it is written elsewhere.
  Workload loaded;
  if (config) {
    loaded.transformer = load_config_json(model.file, changes.sequence);
  } else {
    loaded = load_workload(model.file, configs_directory().value_or("configs") / "workloads" / "tensors");
  }
  if (changes.sequence && !loaded.transformer) {
    reject_part("--sequence", *line.sequence, "{} is no language model", model.name);
  }
  set_length(line, model, loaded, changes);
  return "workload:\n" + (config ? workload_of_config(model.name, model.file, changes)
                                 : changed_workload(model.file, changes));
}

std::string limits_yaml(const PlanLine& line) {
  std::string yaml;
  for (const auto& [key, value] : {std::pair("deadline", line.deadline), std::pair("budget", line.budget)}) {
    yaml += value ? fmt::format("{}: {}\n", key, in_yaml_quotes(*value)) : "";
  }
  const std::vector<std::string> rates = mapped(line.exchange, in_yaml_quotes);
  return rates.empty() ? yaml : yaml + fmt::format("exchange_rates: [{}]\n", fmt::join(rates, ", "));
}

/// Words between commas.
void check_ways(const std::string& text) {
  for (const std::string_view part : split(text, ',')) {
    std::string word(part);
    std::erase(word, ' ');
    if (word == "search") {
      reject_part("--shard", text, "--search tries all ways");
    }
    if (!parse_sharding(word)) {
      reject_part("--shard", text, unknown_name("way to shard", word, sharding_words()));
    }
  }
}

}  // namespace

WrittenPlan write_plan(const PlanLine& line, const std::string& command, const KnownNames& known) {
  if (!line.model && !line.gradients) {
    throw bad_input("{} needs --model, such as resnet34, or --gradients, such as '88 MB'",
                    line.gpus.empty() ? "--offers" : "--gpus");
  }
  if (line.gpus.empty() && line.bandwidth) {
    reject_part("--bandwidth", *line.bandwidth, "describes slots of --gpus, which is not given");
  }
  std::vector<KnownPart> parts = mapped(line.known, read_known_part);
  std::vector<NamedOffer> offers;
  if (!line.gpus.empty()) {
    offers = named_offers(line.gpus, line.bandwidth, parts, known);
  }
  for (const KnownPart& part : parts) {
    const bool of_a_listing = line.listings && part.samples_per_second.has_value();
    if ((!part.used && !of_a_listing) || (part.samples_per_second && line.gradients)) {
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
  std::string sharding;
  if (line.search) {
    sharding = "sharding: search\n";
  } else if (line.sharding) {
    check_ways(*line.sharding);
    sharding = fmt::format("sharding: [{}]\n", *line.sharding);
  }
  plan.yaml = fmt::format("# {}\nname: {}\n{}{}{}{}", command, in_yaml_quotes(plan.name), workload, sharding,
                          limits_yaml(line), offers.empty() ? "" : "offers:\n");
  for (NamedOffer& offer : offers) {
    plan.yaml += yaml_of(offer);
    plan.assumptions.push_back(std::move(offer.assumptions));
  }
  return plan;
}

}  // namespace ringside::study
