#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/collective.hpp"
#include "common/spellings.hpp"

/// The closed sets that scenarios, schedules, results and backends share, and their spelling.
namespace ringside {

enum class DataType { float32, float64, float16, bfloat16, int32, int64 };
enum class ReduceOp { sum, prod, min, max, avg };
/// `threads` runs ranks as threads of one process and is for tests.
enum class Backend { automatic, gloo, nccl, shm, mpi, threads };
enum class Fidelity { automatic, closed_form, replay, flow, nccl };
enum class Outcome { ok, wrong_result, failed, unsupported };

/// "Gloo": the library whose collectives are `native` with a backend; empty where there is none.
std::string_view library_of(Backend backend);

std::size_t size_of(DataType type);

/// The known name most like `text` (edit distance, else a prefix), none where nothing is close enough.
std::optional<std::string> nearest_name(std::string_view text, std::span<const std::string> known);

/// `unknown algorithm 'rng'; did you mean 'ring'? Known: naive, tutorial_ring, ring`
std::string unknown_name(std::string_view what, std::string_view text, std::span<const std::string> known);

}  // namespace ringside
