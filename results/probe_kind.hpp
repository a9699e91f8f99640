#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/spellings.hpp"
#include "common/units.hpp"

/// The kinds of point-to-point probes: what probes, fits, machine files and simulation do follows from
/// its row. A new kind is a value, a row, and the steps that its ranks run (real/probe/probe_program.cpp).
namespace ringside {

enum class ProbeKind : std::uint8_t {
  ping_pong,
  stream,
  both_ways,
  send,
  neighbour_exchange,
  native_exchange,
  chained_exchange,
  chained_exchange_posted,
  fan_out,
  reduction,
  reducing_exchange,
  writing_exchange,
};

/// What the values of a curve are.
enum class CurveUnit : std::uint8_t { seconds, seconds_per_byte };

struct ProbeKindRow {
  ProbeKind kind = ProbeKind::ping_pong;
  std::string_view measures;  ///< What one value is the time of.
  // Who probes it: any of one rank, a pair, and every number of ranks asked for, from `min_ranks` on.
  bool alone = false;
  bool pair = false;
  bool all = false;
  int min_ranks = 2;
  bool on_arrival = false;  ///< Only of ranks that can reduce a message while it arrives.
  bool as_library =
      false;  ///< As the library's own collectives move data, where the transport moves it otherwise.
  bool ahead = false;     ///< Only of others, to whom it matters that receives are posted ahead.
  bool of_first = false;  ///< Only the clock of the first rank counts, not that of the slowest.
  std::array<int, 2> messages = {1, 0};  ///< That each rank sends at once, one probe each; 0 = none.
  Bytes smallest = {8};
  Bytes largest = {0};  ///< 0 = the largest message asked for.
  // What becomes of it.
  bool curve = true;  ///< Part of the curves of a machine file; otherwise of its matrix of pairs only.
  CurveUnit unit = CurveUnit::seconds;
  bool monotone = false;   ///< A larger message never takes less: what was disturbed is smoothed.
  int ranks_of_curve = 0;  ///< However many ranks were started; 0 = a curve for each number of ranks.
  bool by_ranks =
      false;  ///< Says what exactly so many ranks do: those of more ranks are for more ranks only.
  bool in_spread = false;  ///< How far its medians differ from repetition to repetition counts as spread.
};

std::span<const ProbeKindRow> probe_kinds();
const ProbeKindRow& row_of(ProbeKind kind);

struct CurvePoint {
  Bytes bytes;       ///< Size of a message, or of the operand of a reduction.
  double value = 0;  ///< In the unit of its kind.

  bool operator==(const CurvePoint&) const = default;
};

/// What probes of one kind found, by size: ascending, each once.
struct Curve {
  ProbeKind kind = ProbeKind::ping_pong;
  int ranks = 2;     ///< That take part at once.
  int messages = 1;  ///< That each of them sends at once.
  std::vector<CurvePoint> points = {};

  bool operator==(const Curve&) const = default;
};

/// The curve of this kind; null when there is none. `ranks`: none = any.
const Curve* find_curve(std::span<const Curve> curves, ProbeKind kind, std::optional<int> ranks = {},
                        int messages = 1);

}  // namespace ringside
