#include "cli/doctor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/reports/show_machine.hpp"
#include "common/programs.hpp"
#include "common/text.hpp"
#include "plots/drawing/gnuplot.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/nccl/settings.hpp"
#include "real/launch/external/external_rank.hpp"
#include "real/system/other_load.hpp"
#include "real/system/this_machine.hpp"
#include "study/inputs/shipped_files.hpp"
#include "study/logs/this_system.hpp"

namespace ringside::cli {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "–" : text; }

/// "0–3, 7"
std::string list_of(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) {
      ++end;
    }
    text += (text.empty() ? "" : ", ") + consecutive("", numbers[i], numbers[end]);
    i = end + 1;
  }
  return text;
}

/// How a GPU reaches the others: "NVLink to 1–7, peer access".
std::string links_of(int gpu, const GpuMachine& machine) {
  std::map<std::string, std::vector<int>> by_kind;
  for (const GpuPair& link : machine.links) {
    if (link.first == gpu || link.second == gpu) {
      const std::string kind = link.kind.empty() ? "unknown link" : link.kind;
      by_kind[fmt::format("{}{}", kind, link.peer_access ? " with peer access" : ", no peer access,")]
          .push_back(link.first == gpu ? link.second : link.first);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [kind, others] : by_kind) {
    parts.push_back(fmt::format("{} to {}", kind, list_of(others)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// What would disturb measurements here and now.
void examine_disturbances(int cores, std::vector<Finding>& findings) {
  constexpr double kNoticed = 0.1;
  const OtherLoad load = OtherLoad::over(std::chrono::milliseconds(300));
  const auto share = [cores](double used) { return fmt::format("{:.1f} of {} cores", used, cores); };
  const auto finding = [&](const char* what, double used, const char* advice) {
    return Finding{what, share(used), used >= kNoticed ? advice : ""};
  };
  findings.push_back(
      finding("other processes use", load.cores_used(), "measurements will be noisy; stop other programs"));
  findings.push_back(finding("the hypervisor took", load.cores_stolen(),
                             "the host is shared: measure again at another time"));
  if (load.cores_throttled() > 0) {
    findings.push_back(
        finding("the CPU quota took", load.cores_throttled(), "raise the quota of this container"));
  }
  const std::string congestion_control = tcp_congestion_control();
  if (!congestion_control.empty()) {
    findings.push_back({"TCP congestion control", congestion_control,
                        congestion_control.starts_with("bbr")
                            ? "slows long messages between two ranks on loopback (docs/performance.md)"
                            : ""});
  }
}

/// What starts ranks on several machines.
void examine_launchers(std::vector<Finding>& findings) {
  struct Launcher {
    const char* program;
    const char* use;
    const char* missing;
  };
  constexpr std::array kLaunchers = {
      Launcher{"mpirun", "backends mpi, gloo and nccl", "Debian: openmpi-bin"},
      Launcher{"srun", "with --mpi=pmix backend mpi, otherwise gloo and nccl", "Debian: slurm-client"},
      Launcher{"torchrun", "backends gloo and nccl", "it comes with PyTorch"}};
  for (const Launcher& launcher : kLaunchers) {
    const std::string path = path_of_program(launcher.program);
    findings.push_back({fmt::format("start with {}", launcher.program), path.empty() ? "no" : "yes",
                        path.empty() ? fmt::format("not installed ({})", launcher.missing)
                                     : fmt::format("{}; {}", launcher.use, path)});
  }
}

std::vector<Finding> examine() {
  const ThisMachine machine = this_machine();
  std::vector<Finding> findings = {
      {"ringside", RINGSIDE_VERSION, machine.compiler},
      {"processor",
       fmt::format("{}{}", count_of(machine.cores, "core"),
                   num_sockets() > 1 ? fmt::format(" of {} sockets", num_sockets()) : ""),
       machine.cpu},
      {"memory", format(machine.memory), fmt::format("{} available", format(available_memory()))},
      {"system", machine.kernel, machine.host},
  };
  examine_disturbances(machine.cores, findings);
  for (const RegisteredBackend& backend : all_backends()) {
    const std::optional<std::string> reason = backend.unavailable();
    findings.push_back({fmt::format("measure with {}", name(backend.backend)), reason ? "no" : "yes",
                        reason ? *reason : backend.describe()});
  }
  examine_launchers(findings);
  std::ranges::copy(gpu_findings(gpu_machine()), std::back_inserter(findings));
  const bool gnuplot = plots::gnuplot_available();
  findings.push_back({"draw charts", gnuplot ? "yes" : "no",
                      gnuplot ? "gnuplot" : "gnuplot is not installed (Debian package gnuplot-nox)"});
  const auto configs = study::configs_directory();
  findings.push_back({"shipped configs", configs ? "yes" : "no",
                      configs ? configs->string() : "no configs/ folder beside the program or here"});
  if (const auto external = external_rank()) {
    findings.push_back({"started by", external->launcher,
                        fmt::format("rank {} of {}", external->rank, external->num_ranks)});
  }
  return findings;
}

struct DoctorFlags {
  bool topology = false;
  std::string file;  ///< Empty: of this machine.
  std::optional<std::string> gpu;
};

/// What stands in a file about a machine, or what this one says of itself: as a machine file, with its links.
void examine_topology(const DoctorFlags& flags, const CommonOptions& common) {
  const std::filesystem::path file = flags.file;
  std::error_code error;
  const study::ImportedMachine found =
      file.empty() ? study::find_topology({}, flags.gpu, common)
      : std::filesystem::is_directory(file, error)
          ? study::find_topology({.system = file, .asks_programs = false, .cpu_info = {}}, flags.gpu, common)
          : study::import_topology(file, flags.gpu, common);
  if (common.format == OutputFormat::json) {
    print_record({{"record", "machine"},
                  {"name", found.machine.name},
                  {"file", found.file.string()},
                  {"notes", found.notes},
                  {"yaml", found.yaml}});
  } else {
    print_file(found.file);
    print_line("\nmachine: {}", found.file.string());
  }
  // One GPU alone has no links to show.
  if (found.machine.gpus_per_node.value_or(1) > 1) {
    show_machine(found.file, 0, true, common);
  }
}

}  // namespace

std::vector<Finding> gpu_findings(const GpuMachine& machine) {
  std::vector<Finding> findings;
  if (!machine.built) {
    findings.push_back({"GPU ranks in this build", "no", *missing_for_nccl(machine)});
    return findings;
  }
  findings.push_back({"GPU ranks in this build", "yes",
                      fmt::format("CUDA {}, NCCL {}", machine.cuda_built, machine.nccl_built)});
  findings.push_back({"NVIDIA driver", machine.driver_loaded ? or_dash(machine.driver) : "no",
                      machine.driver_loaded
                          ? fmt::format("runs CUDA up to {}{}{}", machine.cuda_of_driver,
                                        machine.trouble.empty() ? "" : "; ", machine.trouble)
                          : "no driver is loaded"});
  findings.push_back(
      {"NCCL", machine.nccl_version ? nccl_version_text(*machine.nccl_version) : "no", machine.nccl_library});
  findings.push_back({"GPUs", std::to_string(machine.gpus.size()), ""});
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const GpuFacts& gpu = machine.gpus[i];
    const std::string busy = gpu.processes > 0 ? fmt::format("; {} computing on it",
                                                             count_of(gpu.processes, "process", "processes"))
                                               : "";
    findings.push_back(
        {fmt::format("GPU {}", i), gpu.model,
         fmt::format("{}{}, compute capability {}, {} multiprocessors, PCI {}{}", format(gpu.memory),
                     gpu.free ? fmt::format(" ({} free)", format(*gpu.free)) : "", gpu.capability,
                     gpu.multiprocessors, gpu.pci, busy)});
    if (const std::string links = links_of(static_cast<int>(i), machine); !links.empty()) {
      findings.push_back({fmt::format("GPU {} reaches", i), "", links});
    }
  }
  return findings;
}

void add_doctor(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("doctor", "What can run here, and why not");
  auto flags = std::make_shared<DoctorFlags>();
  auto* topology =
      command
          ->add_option("--topology", flags->file,
                       "Only draw the machine's links. FILE: nvidia-smi topo -m, NCCL's topology XML, "
                       "lspci -tv, or a copy of /sys (default: this machine)")
          ->type_name("[FILE]")
          ->expected(0, 1);
  command->add_option("--gpu", flags->gpu, "Model of the GPUs, if --topology finds only their numbers")
      ->needs(topology);
  command->footer("doctor --topology");
  command->callback([flags, topology, &common] {
    if (topology->count() > 0) {
      examine_topology(*flags, common);
      return;
    }
    Rows rows;
    for (const Finding& finding : examine()) {
      if (common.format == OutputFormat::json) {
        print_record({{"record", "doctor"},
                      {"what", finding.what},
                      {"state", finding.state},
                      {"detail", finding.detail}});
      }
      rows.push_back({finding.what, finding.state, finding.detail});
    }
    if (common.format == OutputFormat::table) {
      print_table({{"", "", ""}, rows});
    }
  });
}

}  // namespace ringside::cli
