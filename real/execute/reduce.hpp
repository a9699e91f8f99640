#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/names.hpp"

/// The arithmetic of reductions on a CPU.
namespace ringside {

/// Why elements of this type cannot be reduced on a CPU here; nothing when they can.
std::optional<std::string> unsupported_on_cpu(DataType dtype);

/// target[i] = target[i] op source[i] for `count` elements. op avg adds; divide() finishes it. Integers wrap
/// around. The regions must not overlap.
void reduce_into(void* target, const void* source, std::int64_t count, DataType dtype, ReduceOp op);

/// target[i] = target[i] / divisor; integers lose the fraction, as in C++.
void divide(void* target, std::int64_t count, DataType dtype, std::int64_t divisor);

/// target = source, of memory that is in the caches: the C library's copy is slow there on some processors
/// when both begin at the same place of a page (glibc bug 30994). The regions must not overlap.
void copy_in_cache(void* target, const void* source, std::int64_t bytes);

}  // namespace ringside
