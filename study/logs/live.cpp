#include "study/logs/live.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/nccl/settings.hpp"
#include "real/system/this_machine.hpp"
#include "results/journal.hpp"
#include "study/compare.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/logs/this_system.hpp"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

/// More ranks than cores would wait for each other, and one rank exchanges nothing.
int ranks_on_cpus() { return std::clamp(this_machine().cores, 2, 4); }

std::optional<PointStudy> measured_here(const LiveRequest& request, Backend backend, int ranks,
                                        const Invocation& invocation, const Observer& observer) {
  const bool gpus = registered(backend).on_gpus;
  const Bytes largest = request.max_bytes.value_or(Bytes{std::int64_t{1} << (gpus ? 30 : 24)});
  const fs::path directory = output_directory(invocation, "check_live");
  const fs::path scenario = directory / "scenario.yaml";
  write_file(scenario,
             fmt::format("name: check_live\nbackend: {}\nalgorithms: [{}]\nranks: {}\n"
                         "message_sizes: {{from: {}, to: {}, factor: {}}}\nmachine: this\n",
                         name(backend), gpus ? "native" : "ring, native", ranks, gpus ? "1 KiB" : "4 KiB",
                         fmt::format("{} B", largest.value), gpus ? 4 : 16));
  LaunchChoices launch = request.launch;
  launch.backend = backend;
  Invocation here = invocation;
  here.output = directory;
  return compare({.scenario = read_scenario(scenario), .predicts = !gpus, .launch = launch}, here, observer);
}

/// What a log of nccl-tests would have said.
RunFacts facts_of(const GpuMachine& gpus) {
  RunFacts facts;
  for (const GpuFacts& gpu : gpus.gpus) {
    facts.gpus.push_back(gpu.model);
  }
  facts.hosts = {this_machine().host};
  facts.ranks = static_cast<int>(gpus.gpus.size());
  facts.nodes = 1;
  if (gpus.nccl_version) {
    facts.nccl = nccl_version_text(*gpus.nccl_version);
  }
  return facts;
}

/// The fullest description: the caller's, the instance's, this machine's links, else its GPU models.
CheckRequest described_here(CheckRequest request, const GpuMachine& gpus, const Invocation& invocation,
                            const Observer& observer) {
  if (request.machine || request.topology) {
    return request;
  }
  if (const auto instance = this_instance()) {
    observer.note(fmt::format("This machine is a {}, as {} says.", instance->machine, instance->source));
    request.machine = instance->machine;
    return request;
  }
  RunFacts facts = facts_of(gpus);
  if (request.gpu) {
    require_gpu_sheet(*request.gpu);
    facts.gpus.assign(facts.gpus.size(), *request.gpu);
  }
  try {
    request.machine = find_topology({}, facts.gpus.front(), invocation).file.string();
  } catch (const Error& error) {
    // Throws what is missing now, and not once everything was measured.
    recognise_machine(facts, *facts.ranks, "this machine");
    observer.note(fmt::format("Its links are taken from the model of its GPUs: {}.", error.what()));
  }
  return request;
}

}  // namespace

Backend live_backend(const LiveRequest& request, const Observer& observer) {
  return measuring_backend({.max_ranks = 2}, request.launch, observer);
}

bool has_population(Backend backend) { return registered(backend).on_gpus; }

std::optional<LiveCheck> check_live(const LiveRequest& request, const Invocation& invocation,
                                    const Observer& observer) {
  LiveCheck live{.backend = live_backend(request, observer)};
  const bool on_gpus = has_population(live.backend);
  const GpuMachine gpus = on_gpus ? gpu_machine() : GpuMachine{};
  const int ranks = on_gpus ? static_cast<int>(gpus.gpus.size()) : ranks_on_cpus();
  if (ranks < 2) {
    throw lacking("NCCL is checked on two GPUs or more, and this machine has {}; backend gloo takes CPUs",
                  ranks);
  }
  // Before anything runs: a description that is wrong is refused at once.
  LogChecker checker(on_gpus ? described_here(request.check, gpus, invocation, observer) : request.check);
  std::optional<PointStudy> study = measured_here(request, live.backend, ranks, invocation, observer);
  if (!study) {
    return std::nullopt;  // Rank 0 of mpirun, srun or torchrun has the results.
  }
  live.points = std::move(study->points);
  if (on_gpus) {
    live.checks = checker.check_series({{.line = 1, .points = live.points}}, facts_of(gpus), "this machine");
  }
  return live;
}

}  // namespace ringside::study
