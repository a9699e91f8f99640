#include "real/backend/shm/group.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "real/execute/transport.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Asks of a condition before a rank sleeps: about a tenth of a millisecond with a core of its own. Where
/// ranks share cores, whoever spins keeps the one for which it waits from working.
constexpr int kSpinsOnOwnCore = 4000;
constexpr int kSpinsOnSharedCore = 2;
constexpr int kYieldsOnSharedCore = 100;
/// Who yields and comes back so late sleeps, as a woken thread runs first.
constexpr std::chrono::microseconds kLongYield{100};
/// So long at a time; then it looks whether its peer still lives.
constexpr milliseconds kNap{20};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void nap(std::atomic<std::uint32_t>& doorbell, std::uint32_t value) {
  const timespec time = {.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kNap).count()};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&doorbell), FUTEX_WAIT, value, &time, nullptr, 0);
}

cpu_set_t own_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof(cores), &cores);
  return cores;
}

std::string key_of(Rank rank) { return fmt::format("rank-{}", rank); }
std::string_view text_of(const Secret& secret) { return {secret.data(), secret.size()}; }

}  // namespace

ShmGroup::ShmGroup(const RankPlace& place)
    : rank_(place.rank),
      num_ranks_(place.num_ranks),
      timeout_(place.timeout),
      memory_(std::make_shared<SharedMemory>(reserved_bytes(place.num_ranks))),
      peers_(static_cast<std::size_t>(place.num_ranks)) {
  peers_[static_cast<std::size_t>(rank_)].reserved = memory_->reserved();
  meet(place);
  choose_patience();
}

std::vector<std::shared_ptr<ShmGroup>> ShmGroup::of_threads(int num_ranks, milliseconds timeout) {
  std::vector<std::shared_ptr<SharedMemory>> memory;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    memory.push_back(std::make_shared<SharedMemory>(reserved_bytes(num_ranks)));
    RankHeader& header = header_in(memory.back()->reserved());
    header.secret = make_secret();
    header.cores = own_cores();
    header.address = memory.back()->reserved();
  }
  std::vector<std::shared_ptr<ShmGroup>> groups;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    groups.push_back(std::shared_ptr<ShmGroup>(new ShmGroup(rank, memory, timeout)));
  }
  return groups;
}

ShmGroup::ShmGroup(Rank rank, const std::vector<std::shared_ptr<SharedMemory>>& memory, milliseconds timeout)
    : rank_(rank),
      num_ranks_(static_cast<int>(memory.size())),
      timeout_(timeout),
      memory_(memory[static_cast<std::size_t>(rank)]),
      peers_(memory.size()),
      of_one_process_(true) {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    peers_[peer].reserved = memory[peer]->reserved();
    peers_[peer].shared = memory[peer];
    peers_[peer].id = ::getpid();
  }
  reads_remotely_ = can_read_all();
  choose_patience();
}

void ShmGroup::choose_patience() {
  shares_cores_ = ranks_share_cores();
  spins_ = shares_cores_ ? kSpinsOnSharedCore : kSpinsOnOwnCore;
}

ShmGroup::~ShmGroup() {
  header(rank_).left.store(1);
  wake_all();
}

void ShmGroup::meet(const RankPlace& place) {
  const milliseconds patience = place.meeting_timeout.value_or(place.timeout);
  const Clock::time_point end = Clock::now() + patience;
  if (!place.rendezvous.starts_with("file://")) {
    throw bad_input("rendezvous '{}' must be file:///directory: ranks of the shm backend are on one machine",
                    place.rendezvous);
  }
  const auto folder = meeting_folder(folder_of_rendezvous(place.rendezvous) / (place.group + "-shm"));
  RankHeader& own = header(rank_);
  own.secret = make_secret();
  own.cores = own_cores();
  own.address = memory_->reserved();
  // Its process, the number of its shared memory among the open files of that, and what stands there.
  folder->set(key_of(rank_), fmt::format("{} {} {}\n", ::getpid(), memory_->file(), text_of(own.secret)));

  const auto be_patient = [&](Rank peer, const std::string& why) {
    if (Clock::now() >= end) {
      throw Error(ErrorKind::peer_lost, fmt::format("rank {} did not meet rank {} within {} at {}{}", rank_,
                                                    peer, text_of(patience), place.rendezvous, why));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  };
  for (Rank peer = 0; peer < num_ranks_; ++peer) {
    std::string why;
    while (peer != rank_ && !find(*folder, peer, why)) {
      be_patient(peer, why);
    }
  }
  own.reads_remotely.store(can_read_all() ? 1 : 0);
  own.joined.store(1);
  reads_remotely_ = true;
  for (Rank peer = 0; peer < num_ranks_; ++peer) {
    while (header(peer).joined.load() == 0) {
      be_patient(peer, gone(peer) ? ": it is gone" : "");
    }
    reads_remotely_ = reads_remotely_ && header(peer).reads_remotely.load() != 0;
  }
}

/// Whether the peer's memory is there now; `why` not, where that is not just a matter of time.
bool ShmGroup::find(MeetingPlace& folder, Rank peer, std::string& why) {
  // A killed run's leftovers name a process that is gone, or one with another secret.
  pid_t process = 0;
  int number = -1;
  std::string secret;
  if (!(std::istringstream(folder.find(key_of(peer)).value_or("")) >> process >> number >> secret)) {
    return false;
  }
  FileDescriptor file(::open(fmt::format("/proc/{}/fd/{}", process, number).c_str(), O_RDWR | O_CLOEXEC));
  if (!file.open()) {
    why = fmt::format(
        ": its memory is out of reach ({}); ranks of the shm backend are processes of one user on one "
        "machine, in one PID namespace",
        errno_text());
    return false;
  }
  struct stat facts {};
  const std::int64_t reserved = reserved_bytes(num_ranks_);
  if (::fstat(file.number(), &facts) != 0 || facts.st_size < reserved) {
    return false;
  }
  PeerMemory memory(std::move(file), reserved);
  if (text_of(header_in(memory.reserved()).secret) != secret) {
    why = ": its process is gone, or in another PID namespace";
    return false;
  }
  Peer& found = peers_[static_cast<std::size_t>(peer)];
  found.memory = std::move(memory);
  found.reserved = found.memory.reserved();
  found.process = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  found.id = process;
  return true;
}

bool ShmGroup::can_read_all() {
  for (Rank peer = 0; peer < num_ranks_; ++peer) {
    Secret secret{};
    const iovec here = {.iov_base = secret.data(), .iov_len = secret.size()};
    const iovec there = {.iov_base = const_cast<std::byte*>(header(peer).address), .iov_len = secret.size()};
    if (peer != rank_ && (::process_vm_readv(peers_[static_cast<std::size_t>(peer)].id, &here, 1, &there, 1,
                                             0) != static_cast<ssize_t>(secret.size()) ||
                          secret != header(peer).secret)) {
      return false;
    }
  }
  return true;
}

/// Whether any rank does; all ranks answer the same.
bool ShmGroup::ranks_share_cores() {
  for (Rank rank = 0; rank < num_ranks_; ++rank) {
    cpu_set_t own = header(rank).cores;
    int ranks = 0;
    for (Rank other = 0; other < num_ranks_; ++other) {
      cpu_set_t common;
      CPU_AND(&common, &own, &header(other).cores);
      ranks += CPU_COUNT(&common) > 0 ? 1 : 0;
    }
    if (ranks > CPU_COUNT(&own)) {
      return true;
    }
  }
  return false;
}

void ShmGroup::read_remotely(Rank source, std::uint64_t address, std::span<std::byte> target) {
  if (of_one_process_ && !reads_remotely_ && !target.empty()) {
    std::memcpy(target.data(), reinterpret_cast<const void*>(address), target.size());
    return;
  }
  while (!target.empty()) {
    const iovec here = {.iov_base = target.data(), .iov_len = target.size()};
    const iovec there = {.iov_base = reinterpret_cast<void*>(address), .iov_len = target.size()};
    const ssize_t read =
        ::process_vm_readv(peers_[static_cast<std::size_t>(source)].id, &here, 1, &there, 1, 0);
    if (read <= 0) {
      throw PeerLost(source, PeerLost::How::gone,
                     fmt::format("rank {} lost rank {}: its memory cannot be read any more ({})", rank_,
                                 source, errno_text()));
    }
    target = target.subspan(static_cast<std::size_t>(read));
    address += static_cast<std::uint64_t>(read);
  }
}

bool ShmGroup::gone(Rank peer) {
  pollfd process = {
      .fd = peers_[static_cast<std::size_t>(peer)].process.number(), .events = POLLIN, .revents = 0};
  return header(peer).left.load() != 0 || (process.fd >= 0 && ::poll(&process, 1, 0) > 0);
}

void ShmGroup::wake(Rank rank) {
  RankHeader& other = header(rank);
  // What has changed is written before this is read: whoever sleeps has read it after it said so.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (other.asleep.load(std::memory_order_relaxed) != 0) {
    other.asleep.store(0, std::memory_order_relaxed);
    other.doorbell.fetch_add(1);
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&other.doorbell), FUTEX_WAKE, 1, nullptr, nullptr,
              0);
  }
}

void ShmGroup::wake_all() {
  for (Rank peer = 0; peer < num_ranks_; ++peer) {
    if (peer != rank_) {
      wake(peer);
    }
  }
}

void ShmGroup::wait(const Waiting& waiting, Condition& condition) {
  for (int spin = 0; spin < spins_; ++spin) {
    if (condition.met()) {
      return;
    }
    relax();
  }
  if (!shares_cores_ || !patience_.yields(waiting.bytes) || !met_after_yields(condition)) {
    sleep(waiting, condition);
  }
}

bool ShmGroup::met_after_yields(Condition& condition) {
  Clock::time_point begin = Clock::now();
  for (int i = 0; i < kYieldsOnSharedCore; ++i) {
    ::sched_yield();
    const bool met = condition.met();
    const Clock::time_point now = Clock::now();
    patience_.yielded(now - begin);
    if (met || now - begin > kLongYield) {
      return met;
    }
    begin = now;
  }
  return false;
}

void ShmGroup::sleep(const Waiting& waiting, Condition& condition) {
  RankHeader& own = header(rank_);
  Clock::duration waited{0};
  Clock::duration unasked{0};  // Time since it was asked whether the peer's process lives.
  while (true) {
    const std::uint32_t value = own.doorbell.load();
    own.asleep.store(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // Asked first: what the peer has sent before it went has come.
    const bool ask = unasked >= kNap;
    const bool lost = ask ? gone(waiting.peer) : header(waiting.peer).left.load() != 0;
    unasked = ask ? Clock::duration{0} : unasked;
    if (condition.met()) {
      own.asleep.store(0, std::memory_order_relaxed);
      return;
    }
    if (lost) {
      throw PeerLost(waiting.peer, PeerLost::How::gone,
                     fmt::format("rank {} lost rank {}", rank_, waiting.peer));
    }
    if (waited >= timeout_) {
      throw PeerLost(waiting.peer, PeerLost::How::late,
                     fmt::format("rank {} waited {} to {} rank {}", rank_, text_of(timeout_), waiting.doing,
                                 waiting.peer));
    }
    const Clock::time_point begin = Clock::now();
    nap(own.doorbell, value);
    // A time in which this process is stopped counts as one nap: no rank is late for that.
    const Clock::duration napped = std::min<Clock::duration>(Clock::now() - begin, 2 * kNap);
    waited += napped;
    unasked += napped;
  }
}

}  // namespace ringside
