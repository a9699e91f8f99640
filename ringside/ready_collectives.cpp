#include "ringside/ready_collectives.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/execute/executor.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/program/program_proof.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

/// After so many different collectives all are made ready anew.
constexpr std::size_t kMostReady = 512;

std::int64_t bytes_sent_by(const Program& program) {
  std::int64_t bytes = 0;
  for (const Step& step : program.steps) {
    bytes += step.kind == StepKind::send ? step.source.bytes : 0;
  }
  return bytes;
}

/// On a device, on memory that was borrowed or that it keeps.
template <typename What>
ReadyCollective on_device(DeviceCalls& device, const CollectiveKey& key, const What& what) {
  const std::shared_ptr<std::byte> own =
      key.memory == nullptr ? device.allocate({static_cast<std::int64_t>(key.bytes())}) : nullptr;
  std::byte* const memory = key.memory == nullptr ? own.get() : key.memory;
  return {.run = [own, call = device.make_call(what, memory)] { call(); },
          .message = {.data = memory, .size = key.bytes(), .on_device = true}};
}

/// A program on the CPU: the executor has a message of its own where none was borrowed.
ReadyCollective on_cpu(Program program, Transport& transport, const CollectiveKey& key) {
  const std::shared_ptr<Executor> executor =
      key.memory == nullptr
          ? std::make_shared<Executor>(std::move(program), transport)
          : std::make_shared<Executor>(std::move(program), transport, std::span(key.memory, key.bytes()));
  return {.run = [executor] { executor->run(); },
          .message = {.data = executor->message().data(), .size = key.bytes()}};
}

}  // namespace

ReadyCollective& ReadyCollectives::at(const CollectiveKey& key) {
  const auto known = ready_.find(key);
  if (known != ready_.end()) {
    return known->second;
  }
  ReadyCollective made = key.algorithm == kNative ? of_backend(key) : of_schedule(key);
  if (ready_.size() >= kMostReady) {
    ready_.clear();
  }
  return ready_.emplace(key, std::move(made)).first->second;
}

ReadyCollective ReadyCollectives::of_schedule(const CollectiveKey& key) {
  const Schedule schedule(known_algorithm(key.collective, key.algorithm),
                          {.collective = key.collective, .num_ranks = num_ranks(), .root = key.root});
  // Equal parts are chunks, so that part r is what the schedule calls rank r's.
  RINGSIDE_CHECK(!scattered(key.collective) || schedule.num_chunks() == num_ranks(),
                 "a scattered collective has a chunk per rank");
  const Bytes size{static_cast<std::int64_t>(key.bytes())};
  const Vector vector = {.num_elements = key.num_elements, .dtype = key.dtype, .op = key.op};
  const ExecutionPolicy policy = policy_for(schedule, size, backend_.rules());
  const Rank rank = backend_.transport->rank();
  if (rank == 0) {  // The others would prove the same.
    require_proof(schedule, vector, policy);
  }
  Program program = compile(schedule, vector, rank, policy);
  const std::int64_t bytes_sent = bytes_sent_by(program);
  ReadyCollective made = device_ != nullptr ? on_device(*device_, key, program)
                                            : on_cpu(std::move(program), *backend_.transport, key);
  made.bytes_sent = bytes_sent;
  return made;
}

ReadyCollective ReadyCollectives::of_backend(const CollectiveKey& key) {
  const PointKey point = {.collective = key.collective,
                          .algorithm = key.algorithm,
                          .ranks = num_ranks(),
                          .bytes = {static_cast<std::int64_t>(key.bytes())},
                          .dtype = key.dtype,
                          .op = key.op};
  if (const std::optional<std::string> reason = unsupported(point, backend_.backend)) {
    throw Error(ErrorKind::bad_input, *reason);
  }
  CollectiveCall call = {.collective = key.collective,
                         .num_ranks = num_ranks(),
                         .root = key.root,
                         .dtype = key.dtype,
                         .op = key.op,
                         .num_elements = key.num_elements};
  for (Rank part = 0; scattered(key.collective) && part < num_ranks(); ++part) {
    const std::int64_t count = key.num_elements / num_ranks();
    call.parts.push_back({.first = part * count, .count = count});
  }
  if (device_ != nullptr) {
    return on_device(*device_, key, call);
  }
  const auto own = std::make_shared<std::vector<std::byte>>(key.memory == nullptr ? key.bytes() : 0);
  std::byte* const memory = key.memory == nullptr ? own->data() : key.memory;
  return {.run = [own, native = backend_.make_native(call, std::span(memory, key.bytes()))] { native(); },
          .message = {.data = memory, .size = key.bytes()}};
}

}  // namespace ringside
