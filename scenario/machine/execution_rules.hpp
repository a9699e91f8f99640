#pragma once

#include <array>
#include <optional>

#include "common/units.hpp"

/// How ranks run schedules on each kind of hardware: the executor does so, a prediction assumes it
/// where a machine is described as such. These numbers are tuned; what they mean is schedule/program/'s.
namespace ringside {

/// How long messages are cut into segments that are in flight together.
struct SegmentRule {
  Bytes longest;             ///< A chunk is cut into as few segments as have at most so many bytes.
  int in_flight = 1;         ///< Segments that a rank has under way; chunks of fewer stay whole.
  bool interleaved = false;  ///< A segment waits for those in flight, else for all of its chunk.
};

struct ExecutionRules {
  bool receives_ahead = false;
  std::optional<SegmentRule> segments = {};  ///< None: chunks travel whole.
  Bytes buffered =
      {};  ///< A message of at most so many bytes has left its sender's memory as soon as it is sent.
};

/// The all_reduce that ranks on one machine have of their own is one exchange of whole messages up to so many
/// bytes. More where ranks share cores and every wait costs them a change of processes.
constexpr Bytes one_shot(bool shares_cores) { return {shares_cores ? 8 << 10 : 512}; }

/// Where ranks work, as far as it decides how they run a schedule.
enum class RankSite {
  gpu,           ///< On GPUs: all transfers of a round are one call, which ends when the last of them does.
  cpu,           ///< On CPUs that somebody else shares out.
  own_core,      ///< On one machine with a CPU core for each.
  shared_cores,  ///< On one machine with fewer CPU cores than ranks.
  memory,        ///< On one machine, through memory that all ranks see.
};

struct RankSiteRow {
  RankSite site;
  ExecutionRules rules;
};

/// Nearly the fastest lengths from 4 to 64 MiB, of 100 KiB to 2 MiB and two to eight segments in flight
/// (docs/performance.md). With own cores a few segments fit into each cache, and a message costs little
/// beside its bytes. Where ranks share cores nothing stays in the caches: one segment is reduced while
/// another travels.
inline constexpr std::array kRankSites = {
    RankSiteRow{RankSite::gpu, {}}, RankSiteRow{RankSite::cpu, {.receives_ahead = true}},
    RankSiteRow{RankSite::own_core,
                {.receives_ahead = true,
                 .segments = SegmentRule{.longest = {384 << 10}, .in_flight = 4, .interleaved = true}}},
    RankSiteRow{RankSite::shared_cores,
                {.receives_ahead = true, .segments = SegmentRule{.longest = {700 << 10}, .in_flight = 2}}},
    RankSiteRow{RankSite::memory, {.receives_ahead = true, .buffered = {16 << 10}}}};

constexpr ExecutionRules rules_of(RankSite site) { return kRankSites[static_cast<std::size_t>(site)].rules; }

}  // namespace ringside
