#include "schedule/program/program.hpp"

#include <cstddef>

#include "common/error.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/program/compilers.hpp"
#include "schedule/program/execution.hpp"

namespace ringside {
namespace {

/// op avg: the sum is divided once, at the end, wherever the result is promised.
void divide_result(const Schedule& schedule, const Vector& vector, Program& program) {
  const ChunkLayout layout(vector.num_elements, schedule.num_chunks());
  const auto element_size = static_cast<std::int64_t>(size_of(vector.dtype));
  for (std::int32_t chunk = 0; chunk < schedule.num_chunks(); ++chunk) {
    const ElementRange elements = layout.elements(chunk);
    if (elements.count == 0 || !promised_at_end(schedule, program.rank, chunk)) {
      continue;
    }
    const Region region = {.offset = elements.first * element_size, .bytes = elements.count * element_size};
    const bool adjacent =
        !program.steps.empty() && program.steps.back().kind == StepKind::divide &&
        program.steps.back().target.offset + program.steps.back().target.bytes == region.offset;
    if (adjacent) {
      program.steps.back().target.bytes += region.bytes;
      program.steps.back().origin.num_chunks = chunk + 1 - program.steps.back().origin.first_chunk;
    } else {
      program.add({.kind = StepKind::divide,
                   .peer = program.rank,
                   .target = region,
                   .origin = {.round = schedule.num_rounds(), .first_chunk = chunk}});
    }
  }
}

}  // namespace

std::int32_t Program::add(const Step& step) {
  steps.push_back(step);
  return static_cast<std::int32_t>(steps.size()) - 1;
}

Program compile(const Schedule& schedule, const Vector& vector, Rank rank, const ExecutionPolicy& policy) {
  RINGSIDE_CHECK(policy.segments > 1 || policy.in_flight == 1, "whole chunks run one round after another");
  const std::int64_t bytes = vector.num_elements * static_cast<std::int64_t>(size_of(vector.dtype));
  const Execution execution(schedule, {bytes}, vector.dtype, policy);
  Program program = {.rank = rank,
                     .num_ranks = schedule.num_ranks(),
                     .dtype = vector.dtype,
                     .op = vector.op,
                     .policy = execution.policy()};
  program.buffer_bytes.assign(static_cast<std::size_t>(schedule.num_buffers()), bytes);
  program.buffer_bytes.push_back(0);
  if (policy.segments > 1) {
    compile_segments(execution, program);
  } else {
    compile_rounds(execution, program);
  }
  if (vector.op == ReduceOp::avg && reduces(schedule.algorithm().collective)) {
    divide_result(schedule, vector, program);
  }
  return program;
}

}  // namespace ringside
