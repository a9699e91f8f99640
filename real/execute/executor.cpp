#include "real/execute/executor.hpp"

#include <chrono>
#include <cstring>
#include <utility>

#include "common/error.hpp"
#include "real/execute/reduce.hpp"
#include "real/execute/reductions_on_arrival.hpp"

namespace ringside {

Seconds steady_now() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

Executor::Executor(Program program, Transport& transport) : Executor(std::move(program), transport, {}) {}

Executor::Executor(Program program, Transport& transport, std::span<std::byte> message)
    : program_(std::move(program)), element_size_(static_cast<std::int64_t>(size_of(program_.dtype))) {
  RINGSIDE_CHECK(program_.rank == transport.rank() && program_.num_ranks == transport.num_ranks(),
                 "a program runs at the rank for which it was compiled");
  for (const std::int64_t size : program_.buffer_bytes) {
    const bool borrowed = buffers_.empty() && message.data() != nullptr;
    RINGSIDE_CHECK(!borrowed || static_cast<std::int64_t>(message.size()) == size,
                   "a borrowed message has the size for which the program was compiled");
    buffers_.push_back(borrowed ? message : memory_.emplace_back(transport.allocate(size)).bytes());
  }
  make_transfers(transport);
}

void Executor::make_transfers(Transport& transport) {
  transfers_.resize(program_.steps.size());
  done_on_arrival_.resize(program_.steps.size(), false);
  const std::vector<std::int32_t> reductions = reductions_on_arrival(
      program_, [&](const Region& source) { return transport.leaves_at_once(bytes(source)); });
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const Step& step = program_.steps[i];
    if (step.kind == StepKind::send) {
      transfers_[i] = transport.make_send(step.peer, bytes(step.source));
    } else if (step.kind == StepKind::receive) {
      const std::int32_t reduction = reductions[i];
      if (reduction != kNotOnArrival) {
        const Step& reduce = program_.steps[static_cast<std::size_t>(reduction)];
        transfers_[i] = transport.make_reducing_receive(
            step.peer, {.target = bytes(reduce.target), .dtype = program_.dtype, .op = program_.op});
      }
      if (transfers_[i] != nullptr) {
        done_on_arrival_[static_cast<std::size_t>(reduction)] = true;
      } else {
        transfers_[i] = transport.make_receive(step.peer, bytes(step.target));
      }
    }
  }
}

std::span<std::byte> Executor::bytes(const Region& region) const {
  return buffers_[static_cast<std::size_t>(region.buffer)].subspan(static_cast<std::size_t>(region.offset),
                                                                   static_cast<std::size_t>(region.bytes));
}

void Executor::run() {
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    run_step(i);
  }
}

void Executor::run(std::span<StepTime> times) {
  RINGSIDE_CHECK(times.size() == program_.steps.size(), "every step has a time");
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    times[i].begin = steady_now();
    run_step(i);
    times[i].end = steady_now();
  }
}

void Executor::run_step(std::size_t index) {
  const Step& step = program_.steps[index];
  switch (step.kind) {
    case StepKind::receive:
    case StepKind::send:
      transfers_[index]->start();
      return;
    case StepKind::wait:
      transfers_[static_cast<std::size_t>(step.transfer)]->wait();
      return;
    case StepKind::copy:
      std::memcpy(bytes(step.target).data(), bytes(step.source).data(), bytes(step.source).size());
      return;
    case StepKind::reduce:
      if (done_on_arrival_[index]) {
        return;
      }
      reduce_into(bytes(step.target).data(), bytes(step.source).data(), step.target.bytes / element_size_,
                  program_.dtype, program_.op);
      return;
    case StepKind::divide:
      divide(bytes(step.target).data(), step.target.bytes / element_size_, program_.dtype,
             program_.num_ranks);
      return;
  }
}

}  // namespace ringside
