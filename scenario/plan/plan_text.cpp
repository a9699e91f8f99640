#include "scenario/plan/plan_text.hpp"

#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "scenario/plan/transformer.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

std::string with_changes(YAML::Node root, const WorkloadChanges& changes) {
  if (changes.batch_per_gpu) {
    root.remove("global_batch");
    root["batch_per_gpu"] = *changes.batch_per_gpu;
  }
  if (changes.sequence) {
    for (const char* counted : {"model", "tensors", "parameters", "forward_flops", "samples", "epochs"}) {
      root.remove(counted);
    }
    root["transformer"]["sequence"] = *changes.sequence;
  }
  if (changes.tokens) {
    root.remove("samples");
    root.remove("epochs");
    root["tokens"] = *changes.tokens;
  }
  if (changes.epochs) {
    root["epochs"] = *changes.epochs;
  }
  if (!changes.measured.empty()) {
    YAML::Node speeds(YAML::NodeType::Sequence);
    for (const auto& [gpu, speed] : changes.measured) {
      YAML::Node one;
      one.SetStyle(YAML::EmitterStyle::Flow);
      one["gpu"] = gpu;
      one["samples_per_second"] = speed;
      speeds.push_back(one);
    }
    for (const YAML::Node& stated : root["compute"]["measured"]) {
      speeds.push_back(stated);
    }
    root["compute"]["measured"] = speeds;
  }
  std::istringstream lines(YAML::Dump(root));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += fmt::format("  {}\n", line);
  }
  return text;
}

}  // namespace

std::string machine_on_one_line(const Machine& machine) {
  YAML::Node root = YAML::Load(to_yaml(machine));
  root.remove("name");
  root.remove("price");
  root.SetStyle(YAML::EmitterStyle::Flow);
  YAML::Emitter out;
  out << YAML::Flow << root;
  return out.c_str();
}

std::string changed_workload(const std::filesystem::path& file, const WorkloadChanges& changes) {
  YAML::Node root = YAML::LoadFile(file.string());
  if (!root["name"]) {
    root["name"] = file.stem().string();
  }
  if (root["tensors"] && root["tensors"].IsScalar()) {
    root["tensors"] = std::filesystem::absolute(file.parent_path() / root["tensors"].Scalar()).string();
  }
  return with_changes(root, changes);
}

std::string workload_of_config(const std::string& name, const std::filesystem::path& file,
                               const WorkloadChanges& changes) {
  YAML::Node root;
  root["name"] = name;
  root["transformer"] = YAML::Load(to_yaml_line(load_config_json(file, changes.sequence)));
  root["batch_per_gpu"] = 1;
  root["compute"] = YAML::Load("{precision: bfloat16}");
  root["memory"] = YAML::Load("{optimizer: adam}");
  return with_changes(root, changes);
}

}  // namespace ringside
