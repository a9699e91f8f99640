#include "real/probe/probe_run.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include "real/execute/collective_values.hpp"
#include "real/execute/executor.hpp"
#include "real/execute/ready_call.hpp"
#include "real/launch/message.hpp"
#include "real/measure/timing.hpp"
#include "real/probe/probe_program.hpp"

namespace ringside {
namespace {

constexpr TimingLimits kLimits = {.target_interval = 0.05, .min_calls = 3, .max_calls = 400};
/// Longer messages are sent once or more beside the warm-up: repetitions tell more than calls in a row.
constexpr std::int64_t kLong = 1LL << 20;
/// Copies between ranks that share memory begin at a third of their speed: pages and caches are another's.
constexpr std::int64_t kCopiedCold = 128LL << 10;
constexpr Seconds kUntilWarm{0.015};

/// Only the reductions of a reduction probe count; on a GPU there is nothing else.
double run_once(ProbeKind kind, const ProbeProgram& probe, ReadyCall& ready, std::vector<StepTime>& times) {
  Executor* executor = ready.executor();
  if (kind != ProbeKind::reduction || executor == nullptr) {
    return ready.run();
  }
  executor->run(times);
  const std::size_t first = probe.first_reduction;
  return first < times.size() ? (times.back().end - times[first].begin).value : 0;
}

std::vector<double> run_probe(const ProbeRequest& request, const RankBackend& backend,
                              Coordination& coordination) {
  const ProbeKey& key = request.key;
  Transport& transport = *backend.transport;
  const RankSite site = backend.device != nullptr ? RankSite::gpu : backend.cpu_site;
  const bool through_memory = site == RankSite::memory;
  const ProbeProgram probe = probe_program(key, transport.rank(), transport.num_ranks(), site);
  const std::unique_ptr<ReadyCall> ready = make_ready(probe.program, backend, row_of(key.kind).as_library);
  ready->warm_up();
  TimingLimits limits = kLimits;
  limits.budget = request.budget;
  if (key.bytes.value > kLong) {
    limits.min_calls = 1;
  }
  if (through_memory && key.bytes.value >= kCopiedCold) {
    limits.min_warm_up = kUntilWarm;
  }
  std::vector<StepTime> times(probe.program.steps.size());
  // As before a measured collective, ranks write what they send: it is in their caches as it would be there.
  const CollectiveCall call = {.num_ranks = transport.num_ranks(), .num_elements = probe.num_elements()};
  const CollectiveValues values(call, 0);
  std::vector<double> seconds = time_calls({.before = [&] { ready->write_input(values); },
                                            .run = [&] { return run_once(key.kind, probe, *ready, times); },
                                            .counts = probe.counts},
                                           limits, coordination, backend.progress);
  for (double& value : seconds) {
    value /= probe.repeats;
  }
  return seconds;
}

}  // namespace

template <>
const FieldTable<ProbeRequest>& field_table() {
  static const FieldTable<ProbeRequest> table =
      fields(inlined(&ProbeRequest::key), required<&ProbeRequest::budget>());
  return table;
}

const TaskKind kProbe = {"probe", run_task<ProbeRequest, std::vector<double>, run_probe>};

}  // namespace ringside
