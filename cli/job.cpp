#include "cli/job.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "analysis/fit.hpp"
#include "cli/backends.hpp"
#include "cli/lookup.hpp"
#include "common/error.hpp"
#include "real/gpus.hpp"
#include "real/nccl/nccl_settings.hpp"
#include "real/probe.hpp"
#include "real/this_machine.hpp"
#include "results/import.hpp"
#include "results/reader.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {

namespace fs = std::filesystem;

namespace {

/// A scenario's name as a folder: what a shell would have to quote becomes a dash.
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

/// What is known of this machine without probing it.
Machine machine_here(const CalibrateRequest& request) {
  Machine machine;
  machine.name = "this machine";
  machine.software = request.software;
  if (request.launch.backend != Backend::nccl) {
    return machine;
  }
  const GpuMachine gpus = gpu_machine();
  if (gpus.nccl_version && !machine.software.nccl) {
    machine.software.nccl = nccl_version_text(*gpus.nccl_version);
  }
  if (!gpus.gpus.empty()) {
    machine.name = fmt::format("this machine, {} × {}", gpus.gpus.size(), gpus.gpus.front().model);
  }
  if (request.launch.gpu.ranks_per_gpu > 1) {
    machine.name += fmt::format(", {} ranks on each", request.launch.gpu.ranks_per_gpu);
  } else {
    machine.gpus_per_node = static_cast<int>(gpus.gpus.size());
  }
  return machine;
}

std::string describe(const PointKey& key) {
  return fmt::format("{} {}, {} ranks, {}", name(key.collective), key.algorithm, key.ranks,
                     format(key.bytes));
}

}  // namespace

void add_launch_flags(CLI::App& command, LaunchFlags& flags) {
  command.add_option("--timeout", flags.timeout, "Deadline of every single wait for a rank")
      ->check(time_problem)
      ->capture_default_str();
  command.add_option("--time-per-point", flags.time_per_point, "Measure one point for at most this long")
      ->check(time_problem)
      ->capture_default_str();
  command.add_option(
      "--wrap", flags.wrap,
      "Command in front of each rank, such as 'ip netns exec host{rank}' or 'taskset -c {rank}'");
  command.add_option("--interface", flags.interface, "Network interface of the ranks (default: loopback)");
  command.add_option(
      "--rendezvous", flags.rendezvous,
      "Where ranks that mpirun, srun or torchrun started meet: file:///path or redis://host:port");
  command.add_option("--backend", flags.backend,
                     "auto, gloo or nccl (default: what the scenario says, or auto)");
  command
      .add_option("--ranks-per-gpu", flags.ranks_per_gpu,
                  "nccl: so many ranks share a GPU, for trying it where GPUs are few; results are marked "
                  "oversubscribed")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
}

void add_calibrate_flags(CLI::App& command, LaunchFlags& flags) {
  command.add_option("--calibrate-time", flags.calibrate_time, "Probe this machine for at most this long")
      ->check(time_problem)
      ->capture_default_str();
}

LaunchOptions launch_options(const LaunchFlags& flags, Backend backend, const Software& software) {
  const Seconds timeout = parse_seconds(flags.timeout);
  if (timeout.value < 0.1 || timeout.value > 86400) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--timeout {}: allowed is 100 ms to 86400 s", flags.timeout));
  }
  LaunchOptions options;
  options.backend = backend;
  options.timeout = std::chrono::milliseconds(std::llround(timeout.value * 1e3));
  options.wrap = flags.wrap;
  options.interface = flags.interface;
  options.rendezvous = flags.rendezvous;
  options.gpu.ranks_per_gpu = flags.ranks_per_gpu;
  if (software.nccl_algo) {
    options.gpu.settings.emplace_back("NCCL_ALGO", *software.nccl_algo);
  }
  if (software.nccl_proto) {
    options.gpu.settings.emplace_back("NCCL_PROTO", *software.nccl_proto);
  }
  return options;
}

std::vector<std::string> scenario_algorithms(Collective collective) {
  std::vector<std::string> names = algorithm_names(collective);
  names.emplace_back(kNative);
  return names;
}

Scenario read_scenario(const fs::path& file) {
  const auto configs = configs_directory();
  return load_scenario(file, {.algorithms = scenario_algorithms,
                              .machines = configs ? std::optional(*configs / "machines") : std::nullopt});
}

std::vector<Point> read_measured(const Scenario& scenario, Progress& progress) {
  ImportDefaults defaults{.dtype = scenario.dtype, .op = scenario.op};
  if (scenario.ranks.size() == 1) {
    defaults.ranks = scenario.ranks.front();
  }
  const Import import = import_measurements(*scenario.measured, defaults);
  for (const std::string& note : import.notes) {
    progress.note(fmt::format("{}: {}", scenario.measured->filename().string(), note));
  }
  Merged merged = merge(import.series);
  if (merged.repeated > 0) {
    progress.note(fmt::format("{}: {} points are there more than once, and the first of each was taken",
                              scenario.measured->filename().string(), merged.repeated));
  }
  return std::move(merged.points);
}

std::vector<PointKey> points_of(const Scenario& scenario) {
  std::vector<PointKey> keys;
  for (const int ranks : scenario.ranks) {
    for (const Bytes bytes : scenario.message_sizes) {
      for (const std::string& algorithm : scenario.algorithms) {
        keys.push_back({.collective = scenario.collective,
                        .algorithm = algorithm,
                        .ranks = ranks,
                        .bytes = bytes,
                        .dtype = scenario.dtype,
                        .op = scenario.op});
      }
    }
  }
  return keys;
}

fs::path output_directory(const CommonOptions& common, const std::string& name) {
  const fs::path directory = common.output ? *common.output : fs::path("out") / folder_name(name);
  if (directory.empty()) {
    throw Error(ErrorKind::bad_input, "--output: is empty; name a folder for results");
  }
  std::error_code problem;
  fs::create_directories(directory, problem);
  if (!problem && access(directory.c_str(), W_OK) != 0) {
    problem = std::error_code(errno, std::generic_category());
  }
  if (problem) {
    throw Error(ErrorKind::bad_input,
                fmt::format("cannot write results to {}: {}", directory.string(), problem.message()));
  }
  return directory;
}

Backend measuring_backend(const BackendRequest& request, const LaunchFlags& flags, Progress& progress) {
  Backend asked = request.asked;
  if (flags.backend) {
    const std::optional<Backend> named = parse_name<Backend>(*flags.backend);
    if (!named) {
      throw Error(ErrorKind::bad_input, unknown_name("--backend", *flags.backend, names_of<Backend>()));
    }
    asked = *named;
  }
  if (asked != Backend::automatic) {
    if (const std::optional<std::string> reason = unavailable(asked)) {
      throw Error(ErrorKind::environment,
                  fmt::format("backend {} cannot run here: {}", name(asked), *reason));
    }
    return asked;
  }
  // GPUs when there are enough, CPUs otherwise.
  const GpuMachine gpus = gpu_machine();
  std::optional<std::string> reason = missing_for_nccl(gpus);
  if (!reason) {
    reason = too_few_gpus(static_cast<int>(gpus.gpus.size()), request.max_ranks, flags.ranks_per_gpu);
  }
  const Backend backend = reason ? Backend::gloo : Backend::nccl;
  if (const std::optional<std::string> none = unavailable(backend)) {
    throw Error(ErrorKind::environment, fmt::format("no backend can run here: {}; {}", *none, *reason));
  }
  progress.note(reason
                    ? fmt::format("Measuring with gloo ({}); not with nccl: {}.", describe(backend), *reason)
                    : fmt::format("Measuring with nccl ({}).", describe(backend)));
  return backend;
}

namespace {

/// Probes are repeated with ranks started anew: from one start to the next small messages move by up to 2×.
constexpr int kPasses = 3;
constexpr Seconds kBudgetOfPasses{10};

}  // namespace

Machine calibrate(const CalibrateRequest& request, Progress& progress) {
  progress.stage("calibrating this machine");
  ProbeOptions options;
  options.launch = request.launch;
  options.budget = request.budget;
  options.ranks = request.ranks;
  options.max_bytes = request.max_bytes;
  options.passes = request.budget >= kBudgetOfPasses ? kPasses : 1;
  const std::vector<ProbeSample> samples =
      probe(options, [&](double fraction, std::string_view what) { progress.update(fraction, what); });
  progress.finish();

  Machine machine = request.described.value_or(machine_here(request));
  machine.calibrated = fit_probes(samples);
  if (request.pairs) {
    progress.stage("probing every pair of ranks");
    machine.calibrated->pairs = pair_matrix(probe_pairs(
        options, [&](double fraction, std::string_view what) { progress.update(fraction, what); }));
    progress.finish();
  }
  machine.calibrated->backend = name(request.launch.backend);
  if (request.launch.backend == Backend::gloo && !request.launch.wrap) {
    // Ranks behind a wrap may be anywhere; ranks of our own share the cores of this machine.
    machine.calibrated->cores = this_machine().cores;
  }
  std::ofstream file(request.file);
  file << to_yaml(machine);
  file.close();
  if (!file) {
    throw Error(ErrorKind::bad_input,
                fmt::format("cannot write {}: {}", request.file.string(), std::strerror(errno)));
  }
  return machine;
}

namespace {

/// No message is larger than the scenario's largest, and beyond some size time only grows in proportion.
Bytes largest_probe(const Scenario& scenario) {
  const Bytes largest = *std::max_element(scenario.message_sizes.begin(), scenario.message_sizes.end());
  return std::clamp(largest, Bytes{1 << 20}, ProbeOptions{}.max_bytes);
}

}  // namespace

Machine machine_of(const Scenario& scenario, const LaunchFlags& flags, const fs::path& directory,
                   Progress& progress) {
  if (scenario.machine) {
    return *scenario.machine;
  }
  const int max_ranks = *std::max_element(scenario.ranks.begin(), scenario.ranks.end());
  const Backend backend =
      measuring_backend({.asked = scenario.backend, .max_ranks = max_ranks}, flags, progress);
  return calibrate({.launch = launch_options(flags, backend, scenario.software),
                    .budget = parse_seconds(flags.calibrate_time),
                    .ranks = scenario.ranks,
                    .file = directory / "machine.yaml",
                    .max_bytes = largest_probe(scenario),
                    .software = scenario.software},
                   progress);
}

void take_part_in_calibration(const Scenario& scenario, const LaunchFlags& flags,
                              const LaunchOptions& launch) {
  ProbeOptions options;
  options.launch = launch;
  options.budget = parse_seconds(flags.calibrate_time);
  options.ranks = scenario.ranks;
  probe(options, [](double, std::string_view) {});
}

std::map<int, RankPlacement> placements_of(const Scenario& scenario) {
  std::map<int, RankPlacement> placements;
  if (scenario.machine) {
    for (const int ranks : scenario.ranks) {
      placements[ranks] = placement_on(*scenario.machine, ranks);
    }
  }
  return placements;
}

RunHeader run_header(const CommonOptions& common, const Scenario& scenario,
                     const std::optional<Machine>& machine, const LaunchOptions* launch) {
  RunHeader header;
  header.version = RINGSIDE_VERSION;
  header.command = common.command_line;
  header.scenario = {.name = scenario.name, .file = scenario.file.string(), .text = {}};
  if (!scenario.file.empty()) {
    header.scenario.text = read_text(scenario.file);
  }
  if (machine) {
    header.machine = MachineRecord{
        .name = machine->name, .yaml = to_yaml(*machine), .this_machine = !scenario.machine.has_value()};
  }
  const ThisMachine here = this_machine();
  header.host = {{"name", here.host},
                 {"cpu", here.cpu},
                 {"cores", std::to_string(here.cores)},
                 {"memory", std::to_string(here.memory.value)},
                 {"kernel", here.kernel},
                 {"compiler", here.compiler},
                 {"gloo", here.gloo}};
  if (launch != nullptr && launch->backend == Backend::nccl) {
    add_gpu_facts(*launch, header.host);
  }
  header.started = timestamp(std::chrono::system_clock::now());
  header.seed = common.seed;
  return header;
}

void predict_points(std::vector<Point>& points, const Machine& machine, const PredictOptions& options,
                    Progress& progress) {
  std::set<std::string> reasons;
  for (Point& point : points) {
    if (point.predicted) {
      continue;
    }
    const auto outcome = predict(machine, point.key, options);
    if (const auto* prediction = std::get_if<Prediction>(&outcome)) {
      point.predicted = *prediction;
    } else {
      const std::string& reason = std::get<Unpredicted>(outcome).reason;
      if (reasons.insert(point.key.algorithm + reason).second) {
        progress.note(fmt::format("No prediction of {}: {}", point.key.algorithm, reason));
      }
    }
  }
}

void measure_points(std::vector<Point>& points, const MeasureOptions& options, Journal& journal,
                    Progress& progress) {
  std::vector<PointKey> open;
  for (const Point& point : points) {
    if (!point.measured) {
      open.push_back(point.key);
    }
  }
  if (open.empty()) {
    return;
  }
  progress.stage(options.passes == 1
                     ? fmt::format("measuring {} points", open.size())
                     : fmt::format("measuring {} points, {} passes", open.size(), options.passes));
  const std::size_t all = open.size() * static_cast<std::size_t>(options.passes);
  std::size_t done = 0;
  progress.update(0, describe(open.front()));
  measure(open, options, [&](const PointKey& key, const Measurement& measurement) {
    const auto point = std::find_if(points.begin(), points.end(),
                                    [&](const Point& candidate) { return candidate.key == key; });
    RINGSIDE_CHECK(point != points.end(), "a point was measured that nobody asked for");
    point->measured = measurement;
    journal.append(*point);
    ++done;
    progress.update(static_cast<double>(done) / static_cast<double>(all),
                    done < all ? describe(open[done % open.size()]) : "");
  });
  progress.finish();
}

void print_file(const fs::path& file) { print(read_text(file)); }

}  // namespace ringside::cli
