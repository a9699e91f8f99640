#include "results/probe_kind.hpp"

#include <algorithm>

#include "common/error.hpp"

namespace ringside {
namespace {

/// In the order in which a group of ranks probes them.
constexpr auto kTable = std::to_array<ProbeKindRow>({
    {.kind = ProbeKind::ping_pong,
     .measures = "half a round trip of one message between two ranks",
     .pair = true,
     .of_first = true,
     .monotone = true,
     .ranks_of_curve = 2,
     .in_spread = true},
    {.kind = ProbeKind::stream,
     .measures = "a message of several that are in flight in one direction",
     .curve = false},
    {.kind = ProbeKind::both_ways,
     .measures = "a message of one direction while two ranks stream to each other",
     .curve = false},
    {.kind = ProbeKind::send,
     .measures = "one message, until its sender may go on",
     .pair = true,
     .of_first = true,
     .monotone = true,
     .ranks_of_curve = 2},
    {.kind = ProbeKind::neighbour_exchange,
     .measures = "every rank sends to its right and receives from its left at once",
     .all = true,
     .messages = {1, 2},
     .by_ranks = true,
     .in_spread = true},
    {.kind = ProbeKind::native_exchange,
     .measures =
         "every rank of two nodes exchanges with one of the other, as the library's own collectives do",
     .as_library = true,
     .curve = false},
    // For longer messages, what comes before their bytes is a small part.
    {.kind = ProbeKind::chained_exchange,
     .measures = "one of several neighbour exchanges in a row that pass on what came, to the right and to "
                 "the left in turn",
     .all = true,
     .largest = {1LL << 20},
     .by_ranks = true},
    {.kind = ProbeKind::chained_exchange_posted,
     .measures = "the same, always to the right, with all receives posted beforehand",
     .all = true,
     .ahead = true,
     .largest = {1LL << 20},
     .by_ranks = true},
    {.kind = ProbeKind::fan_out,
     .measures = "two messages at once from one rank to two others, until both are there",
     .all = true,
     .min_ranks = 3,
     .monotone = true,
     .ranks_of_curve = 3,
     .in_spread = true},
    {.kind = ProbeKind::reduction,
     .measures = "every rank reduces what has just arrived at once, per byte",
     .alone = true,
     .all = true,
     .smallest = {4096},
     .unit = CurveUnit::seconds_per_byte},
    {.kind = ProbeKind::reducing_exchange,
     .measures =
         "a neighbour exchange whose messages are reduced while they arrive, two in a row from 3 ranks",
     .all = true,
     .on_arrival = true,
     .by_ranks = true},
    // Shorter messages are buffered: they do not lie where the sum could be written.
    {.kind = ProbeKind::writing_exchange,
     .measures = "a neighbour exchange whose sums are also written to where the messages came from",
     .all = true,
     .on_arrival = true,
     .as_library = true,
     .smallest = {32 << 10},
     .by_ranks = true},
});

}  // namespace

std::span<const ProbeKindRow> probe_kinds() { return kTable; }

const ProbeKindRow& row_of(ProbeKind kind) {
  const auto found = std::ranges::find(kTable, kind, &ProbeKindRow::kind);
  RINGSIDE_CHECK(found != kTable.end(), "a probe kind has no row");
  return *found;
}

const Curve* find_curve(std::span<const Curve> curves, ProbeKind kind, std::optional<int> ranks,
                        int messages) {
  const auto found = std::ranges::find_if(curves, [&](const Curve& curve) {
    return curve.kind == kind && (!ranks || curve.ranks == *ranks) && curve.messages == messages;
  });
  return found == curves.end() ? nullptr : &*found;
}

}  // namespace ringside
