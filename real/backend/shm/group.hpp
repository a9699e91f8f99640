#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sched.h>

#include "common/file_descriptor.hpp"
#include "common/units.hpp"
#include "real/backend/rank_place.hpp"
#include "real/backend/shm/shared_memory.hpp"
#include "real/execute/transport.hpp"
#include "real/store/meeting_place.hpp"
#include "real/system/posix.hpp"
#include "scenario/machine/execution_rules.hpp"

namespace ringside {

// What stands at the beginning of each rank's shared memory: its header, then a channel to each rank.

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
/// What is reduced is written to other ranks while it is in the nearest cache.
inline constexpr std::size_t kBlock = 16 << 10;
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

  /// How far the rank has come in collectives of this backend's own (backend.cpp).
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

/// What a rank waits for: whether it has come. Asked often.
class Condition {
 public:
  virtual bool met() = 0;

 protected:
  ~Condition() = default;
};

/// For whom a rank waits.
struct Waiting {
  Rank peer = 0;
  std::string_view doing = "receive from";  ///< Completes "rank 1 waited 60 s to … rank 2".
  std::int64_t bytes = 0;                   ///< The length of the message.
};

/// How a rank waits for ranks that share its core: it lets them run between two asks, which takes half as
/// long as to be woken. But beside another program a yield may cost a scheduling quantum, whereas a woken
/// thread runs at once. So after one that cost a quantum the next waits sleep at once: together they cost
/// about as much.
class Patience {
 public:
  static constexpr std::chrono::milliseconds kQuantum{1};
  static constexpr int kSleeps = 512;

  /// Whether the wait that begins now yields. It is for a message of so many bytes.
  bool yields(std::int64_t bytes) {
    recent_ = std::max(recent_ - recent_ / 8, bytes);
    sleeps_ = std::max(sleeps_, 0) - 1;
    return sleeps_ < 0;
  }
  /// A yield took so long. Ranks on this core may have worked on messages of the last waits: 4 ns a byte.
  void yielded(std::chrono::nanoseconds time) {
    if (time > kQuantum + std::chrono::nanoseconds(4 * recent_)) {
      sleeps_ = kSleeps;
    }
  }

 private:
  int sleeps_ = 0;           ///< So many of the next waits sleep at once.
  std::int64_t recent_ = 0;  ///< The longest message of the last waits.
};

/// The ranks of one machine, as one of them sees them: everybody's memory, and how to wait for each other.
class ShmGroup {
 public:
  /// Meets all others in the folder of the rendezvous. Throws Error{environment} when the folder or the
  /// memory of another rank cannot be used, and Error{peer_lost} when the others do not come in time.
  explicit ShmGroup(const RankPlace& place);
  /// All ranks of a group whose ranks are threads of this process, by rank: they need not meet.
  static std::vector<std::shared_ptr<ShmGroup>> of_threads(int num_ranks, std::chrono::milliseconds timeout);
  /// The others hear that this rank is gone.
  ~ShmGroup();
  ShmGroup(const ShmGroup&) = delete;
  ShmGroup& operator=(const ShmGroup&) = delete;

  Rank rank() const { return rank_; }
  /// Number of a collective of this backend's own: 1 is the first.
  std::uint64_t next_collective() { return ++collectives_; }
  int num_ranks() const { return num_ranks_; }
  /// Whether ranks are threads. Each of their messages is read where it lies: the library promises that a
  /// send waits for its receive.
  bool of_one_process() const { return of_one_process_; }
  /// Whether more ranks than cores work on some cores; the same at all ranks.
  bool shares_cores() const { return shares_cores_; }
  SharedMemory& memory() { return *memory_; }
  std::shared_ptr<SharedMemory> shared() const { return memory_; }

  RankHeader& header(Rank rank) { return header_in(reserved(rank)); }
  Channel& channel(Rank source, Rank target) { return channel_in(reserved(source), target); }
  PeerMemory& peer(Rank rank) { return peers_[static_cast<std::size_t>(rank)].memory; }

  /// Whether every rank may read the private memory of every other (process_vm_readv, or its own process's).
  bool reads_remotely() const { return of_one_process_ || reads_remotely_; }
  /// Copies from the private memory of `source`. Throws PeerLost when it is gone.
  void read_remotely(Rank source, std::uint64_t address, std::span<std::byte> target);

  /// After something has changed for which this rank may sleep.
  void wake(Rank rank);
  void wake_all();
  /// Until the condition is met. Spins for a moment, for less where ranks share cores, and sleeps then.
  /// Throws PeerLost when the peer is gone or the timeout is over.
  void wait(const Waiting& waiting, Condition& condition);

 private:
  struct Peer {
    std::byte* reserved = nullptr;         ///< The beginning of its memory.
    std::shared_ptr<SharedMemory> shared;  ///< Keeps that of a thread of this process.
    PeerMemory memory;                     ///< That of another process.
    FileDescriptor process;                ///< Tells when its process has ended (pidfd_open(2)).
    pid_t id = 0;
  };

  ShmGroup(Rank rank, const std::vector<std::shared_ptr<SharedMemory>>& memory,
           std::chrono::milliseconds timeout);

  std::byte* reserved(Rank rank) { return peers_[static_cast<std::size_t>(rank)].reserved; }
  void meet(const RankPlace& place);
  bool find(MeetingPlace& folder, Rank peer, std::string& why);
  bool can_read_all();
  bool ranks_share_cores();
  void choose_patience();
  bool gone(Rank peer);
  bool met_after_yields(Condition& condition);
  void sleep(const Waiting& waiting, Condition& condition);

  Rank rank_;
  int num_ranks_;
  std::chrono::milliseconds timeout_;
  std::shared_ptr<SharedMemory> memory_;
  std::vector<Peer> peers_;
  bool reads_remotely_ = false;
  bool of_one_process_ = false;
  bool shares_cores_ = false;
  int spins_ = 0;
  Patience patience_;
  std::uint64_t collectives_ = 0;
};

/// Messages through shared memory. Short ones are copied into the sender's channel and have left; longer ones
/// are read in place once both sides have come: a rank moves what it receives while it waits.
struct ShmTransports {
  std::unique_ptr<Transport> reading;
  /// The same, but a reducing receive also writes its result to where the message lies, as the all_reduce
  /// of this backend's own does. Lives no longer than `reading`.
  std::unique_ptr<Transport> writing;
};

ShmTransports make_shm_transports(std::shared_ptr<ShmGroup> group, Progress* progress);

}  // namespace ringside
