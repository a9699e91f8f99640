#include "sim/engine/simulation_options.hpp"

namespace ringside {

TraceEvent trace_event(const Execution& execution, const Move& move, std::int64_t round, TraceKind kind,
                       Span time) {
  return {.rank = kind == TraceKind::reduction ? move.target : move.source,
          .source = move.source,
          .target = move.target,
          .round = round,
          .start = {time.start},
          .end = {time.end},
          .kind = kind,
          .first_chunk = move.first_chunk,
          .num_chunks = move.num_chunks,
          .bytes = {execution.bytes(move)}};
}

}  // namespace ringside
