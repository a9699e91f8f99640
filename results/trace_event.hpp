#pragma once

#include <cstdint>

#include "common/spellings.hpp"
#include "common/units.hpp"
#include "results/codec/fields.hpp"

/// What happened when, in a simulated or in a real run: the same record, to stand side by side.
namespace ringside {

enum class TraceKind : std::uint8_t {
  transfer,   ///< From the moment both sides have come until the last byte is there.
  reduction,  ///< Reduction of data that arrived; in a real run also the division of op avg.
  local,      ///< A move within a rank.
};

/// Times are seconds since the ranks started.
struct TraceEvent {
  Rank rank = 0;  ///< Whose time this is: the source of a transfer, the rank that reduces.
  Rank source = 0;
  Rank target = 0;
  std::int64_t round = 0;
  Seconds start;
  Seconds end;
  TraceKind kind = TraceKind::transfer;
  std::int32_t first_chunk = 0;
  std::int32_t num_chunks = 1;
  Bytes bytes;

  bool operator==(const TraceEvent&) const = default;
};

FieldTable<TraceEvent> table_of(const TraceEvent* any);

}  // namespace ringside
