#pragma once

#include <cstddef>
#include <functional>

/// Stands before a function of plain loops: it has a body for each instruction set, and the loader chooses.
/// Sanitizers run before that choice, and only x86 is worth the trouble here. What the function calls must be
/// inlined, or it has but one body.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define RINGSIDE_EACH_INSTRUCTION_SET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RINGSIDE_EACH_INSTRUCTION_SET
#endif

namespace ringside {

/// Calls `work` with 0 … count − 1, on as many threads as there are processors. Calls must not touch the same
/// memory. After an exception no further call is begun; of several the one of the lowest number is thrown.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace ringside
