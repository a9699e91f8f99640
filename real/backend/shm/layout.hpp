#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sched.h>

#include "common/units.hpp"
#include "real/system/posix.hpp"
#include "scenario/machine/execution_rules.hpp"

/// What stands at the beginning of each rank's shared memory: its header, then a channel to each rank.
namespace ringside {

/// Two ranks that write to one line of the caches slow each other down.
inline constexpr std::size_t kLineBytes = 64;
/// Prefetchers fetch lines in pairs.
inline constexpr std::size_t kApart = 128;

/// Messages of one direction between two ranks that are under way at once; others wait at the sender.
inline constexpr std::uint64_t kMessages = 16;
/// So many of them may be buffered …
inline constexpr std::uint64_t kBuffers = 8;
/// … if they are no longer than this. Longer ones are read where they lie, which needs an answer and no copy.
inline constexpr std::size_t kBuffered = 16 << 10;
static_assert(Bytes{kBuffered} == rules_of(RankSite::memory).buffered, "predictions assume it");
/// What fits into the line that announces the message.
inline constexpr std::size_t kInline = 32;

enum class MessageKind : std::uint32_t {
  inlined,   ///< Stands in the announcement.
  buffered,  ///< Stands in buffer `place` of the channel.
  shared,    ///< Lies at offset `place` of the sender's shared memory.
  remote,    ///< Lies at address `place` of the sender's own memory.
};

/// A message on its way. Message m of a channel has announcement m mod kMessages.
struct alignas(kLineBytes) Announcement {
  /// 2m + 1: message m is there. 2m + 2: it has been taken. Zero at first.
  std::atomic<std::uint64_t> state;
  MessageKind kind;
  std::uint32_t buffer;
  std::uint64_t place;
  std::uint64_t bytes;
  std::array<std::byte, kInline> inlined;
};
static_assert(sizeof(Announcement) == kLineBytes);

struct Channel {
  std::array<Announcement, kMessages> announcements;
  std::array<std::array<std::byte, kBuffered>, kBuffers> buffers;
};

struct RankHeader {
  alignas(kApart) Secret secret;              ///< Stands in the rank's file in the meeting folder, too.
  cpu_set_t cores;                            ///< On which the rank may run.
  const std::byte* address;                   ///< Where this header lies in the rank's own memory.
  std::atomic<std::uint32_t> joined;          ///< The rank has found all others.
  std::atomic<std::uint32_t> left;            ///< The rank is of no more use.
  std::atomic<std::uint32_t> reads_remotely;  ///< It may read the private memory of all others.

  alignas(
      kApart) std::atomic<std::uint32_t> doorbell;  ///< Changes for whoever sleeps on it: the rank itself.
  alignas(kApart) std::atomic<std::uint32_t> asleep;

  /// How far the rank has come in collectives of this backend's own (native.cpp).
  alignas(kApart) std::atomic<std::uint64_t> stage;
  std::uint64_t place;  ///< Where in its shared memory its message lies then.
  alignas(kApart) std::array<std::array<std::byte, one_shot(true).value>, 2> one_shot_slots;
};

constexpr std::int64_t reserved_bytes(int num_ranks) {
  return static_cast<std::int64_t>(sizeof(RankHeader)) +
         num_ranks * static_cast<std::int64_t>(sizeof(Channel));
}

inline RankHeader& header_in(std::byte* reserved) { return *reinterpret_cast<RankHeader*>(reserved); }
inline Channel& channel_in(std::byte* reserved, Rank target) {
  return reinterpret_cast<Channel*>(reserved + sizeof(RankHeader))[target];
}

}  // namespace ringside
