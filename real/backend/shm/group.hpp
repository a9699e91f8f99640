#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.hpp"
#include "real/backend/rank_place.hpp"
#include "real/backend/shm/layout.hpp"
#include "real/backend/shm/shared_memory.hpp"
#include "real/store/meeting_place.hpp"

namespace ringside {

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
  int yields_ = 0;
  std::uint64_t collectives_ = 0;
};

}  // namespace ringside
