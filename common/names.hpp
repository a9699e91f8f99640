#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The closed sets that scenarios, schedules, results and backends share, and their spelling.
namespace ringside {

enum class Collective {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  reduce,
  gather,
  all_to_all,
  send_recv  ///< Every rank sends its message to the next one.
};
enum class DataType { float32, float64, float16, bfloat16, int32, int64 };
enum class ReduceOp { sum, prod, min, max, avg };
/// `automatic` is spelt `auto`; `threads` runs ranks as threads of one process and is for tests.
enum class Backend { automatic, gloo, nccl, mpi, threads };
/// `automatic` is spelt `auto`.
enum class Fidelity { automatic, closed_form, replay, flow, nccl };
enum class Outcome { ok, wrong_result, failed, unsupported };

std::string_view name(Collective value);
std::string_view name(DataType value);
std::string_view name(ReduceOp value);
std::string_view name(Backend value);
std::string_view name(Fidelity value);
std::string_view name(Outcome value);

/// "Gloo": the library whose collectives are `native` with a backend; empty where there is none.
std::string_view library_of(Backend backend);

/// All names of a set, in the order of declaration. Instantiated beside the spellings of each set (common/spellings.hpp).
template <typename E>
std::vector<std::string> names_of();

/// The value spelt `text`, if there is one. Instantiated likewise.
template <typename E>
std::optional<E> parse_name(std::string_view text);

std::size_t size_of(DataType type);
bool is_floating(DataType type);

/// The known name most like `text` (edit distance, else a prefix), or nothing when none is close enough to be meant.
std::optional<std::string> nearest_name(std::string_view text, std::span<const std::string> known);

/// `unknown algorithm 'rng'; did you mean 'ring'? Known: naive, tutorial_ring, ring`
std::string unknown_name(std::string_view what, std::string_view text, std::span<const std::string> known);

}  // namespace ringside
