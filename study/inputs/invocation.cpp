#include "study/inputs/invocation.hpp"

#include <cctype>
#include <cerrno>
#include <chrono>
#include <map>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/nccl/settings.hpp"
#include "real/system/this_machine.hpp"
#include "results/codec/reader.hpp"

namespace ringside::study {

namespace fs = std::filesystem;

namespace {

/// What a reader of a measurement on GPUs must know, and every setting of NCCL.
void add_gpu_facts(const LaunchOptions& launch, std::map<std::string, std::string>& host) {
  const GpuMachine machine = gpu_machine();
  host["gpus"] = std::to_string(machine.gpus.size());
  if (!machine.gpus.empty()) {
    host["gpu"] = machine.gpus.front().model;
  }
  host["driver"] = machine.driver;
  host["cuda"] = machine.cuda_built;
  host["nccl"] = machine.nccl_version ? nccl_version_text(*machine.nccl_version) : "";
  host["nccl_library"] = machine.nccl_library;
  host["ranks_per_gpu"] = std::to_string(launch.gpu.ranks_per_gpu);
  host.merge(nccl_environment(environ));
  for (const auto& [name, value] : launch.gpu.settings) {
    host[name] = value;  // The ranks see this one.
  }
}

}  // namespace

std::optional<Cpu> cpu_here() {
  const std::string model = this_machine().cpu;
  return model.empty() ? std::nullopt : std::optional(Cpu{.vendor = {}, .model = model});
}

std::string folder_name(const std::string& name) {
  std::string folder;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool of_a_longer_character = byte >= 0x80;  // UTF-8; names in other alphabets stay apart.
    const bool plain = std::isalnum(byte) != 0 || of_a_longer_character || c == '_' || c == '.' || c == '-';
    if (plain) {
      folder += c;
    } else if (!folder.empty() && folder.back() != '-') {
      folder += '-';
    }
  }
  while (!folder.empty() && (folder.back() == '-' || folder.back() == '.')) {
    folder.pop_back();
  }
  return folder.empty() ? "scenario" : folder;
}

fs::path output_directory(const Invocation& invocation, const std::string& name) {
  const fs::path directory = invocation.output ? *invocation.output : fs::path("out") / folder_name(name);
  if (directory.empty()) {
    throw bad_key("output: is empty; name a folder for results");
  }
  std::error_code problem;
  fs::create_directories(directory, problem);
  if (!problem && access(directory.c_str(), W_OK) != 0) {
    problem = std::error_code(errno, std::generic_category());
  }
  if (problem) {
    throw bad_input("cannot write results to {}: {}", directory.string(), problem.message());
  }
  return directory;
}

RunHeader plain_header(const Invocation& invocation, const ScenarioRecord& scenario) {
  RunHeader header;
  header.version = RINGSIDE_VERSION;
  header.command = invocation.command_line;
  header.scenario = scenario;
  header.started = timestamp(std::chrono::system_clock::now());
  header.seed = invocation.seed;
  return header;
}

RunHeader run_header(const Invocation& invocation, const Scenario& scenario,
                     const std::optional<Machine>& machine, const LaunchOptions* launch) {
  RunHeader header =
      plain_header(invocation, {.name = scenario.name,
                                .file = scenario.file.string(),
                                .text = scenario.file.empty() ? std::string{} : read_text(scenario.file)});
  if (machine) {
    header.machine = MachineRecord{
        .name = machine->name, .yaml = to_yaml(*machine), .this_machine = !scenario.machine.has_value()};
  }
  const ThisMachine here = this_machine();
  header.host = {{"name", here.host},
                 {"cpu", here.cpu},
                 {"cores", std::to_string(here.cores)},
                 {"sockets", std::to_string(num_sockets())},
                 {"memory", std::to_string(here.memory.value)},
                 {"kernel", here.kernel},
                 {"compiler", here.compiler}};
  for (const RegisteredBackend& backend : all_backends()) {
    if (backend.library_version != nullptr && !backend.unavailable()) {
      header.host[std::string(name(backend.backend))] = backend.library_version();
    }
  }
  if (launch != nullptr && registered(launch->backend).on_gpus) {
    add_gpu_facts(*launch, header.host);
  }
  return header;
}

}  // namespace ringside::study
