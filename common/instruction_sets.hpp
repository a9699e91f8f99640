#pragma once

/// Put before a function of plain loops: one body for each instruction set, chosen when the program is loaded.
/// Sanitizers run before the loader's choice is possible, and only x86 is worth the trouble here. A function
/// that is called inside must be inlined, or it has but one body.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define RINGSIDE_EACH_INSTRUCTION_SET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RINGSIDE_EACH_INSTRUCTION_SET
#endif
