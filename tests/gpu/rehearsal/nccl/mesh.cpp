#include "tests/gpu/rehearsal/nccl/mesh.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/gpu/rehearsal/nccl/sockets.hpp"

namespace rehearsal {
namespace {

/// What a rank says of itself at the meeting point, and gets of every other.
struct Member {
  int rank = 0;
  int num_ranks = 0;
  int gpu = 0;
  std::array<char, 96> host = {};
  std::array<char, 96> address = {};
};

std::array<char, 96> text(const std::string& words) {
  std::array<char, 96> result = {};
  std::memcpy(result.data(), words.data(), std::min(words.size(), result.size() - 1));
  return result;
}

const std::atomic<bool>& never() {
  static const std::atomic<bool> never = false;
  return never;
}

/// Hands every member the whole list as soon as all are there.
void introduce_all(int listener) {
  std::map<int, std::pair<int, Member>> members;
  while (members.empty() ||
         members.size() < static_cast<std::size_t>(members.begin()->second.second.num_ranks)) {
    readable_soon(listener);
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    Member member;
    if (socket >= 0 && read_all(socket, &member, sizeof(member), never())) {
      members[member.rank] = {socket, member};
    }
  }
  for (const auto& [rank, joined] : members) {
    for (const auto& [other, one] : members) {
      write_all(joined.first, &one.second, sizeof(Member), never());
    }
    ::close(joined.first);
  }
  ::close(listener);
}

Outcome duplicate_gpu(const std::vector<Member>& members, int rank) {
  const Member& own = members[static_cast<std::size_t>(rank)];
  const char* shared = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  if (shared != nullptr && std::string(shared) == "1") {
    return {};
  }
  for (const Member& other : members) {
    if (other.rank != rank && other.gpu == own.gpu && other.host == own.host) {
      return {ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(rank) + " and rank " +
                                    std::to_string(other.rank) + " both on CUDA device " +
                                    std::to_string(own.gpu)};
    }
  }
  return {};
}

Outcome lost(int peer) { return {ncclRemoteError, "rank " + std::to_string(peer) + " hung up"}; }

using Call = std::array<char, 96>;

/// The transfers of one direction between two ranks, one after another.
class Line {
 public:
  Line(int socket, const Transfer& first) : socket_(socket), peer_(first.peer), sends_(first.sends) {}

  void add(const Transfer& transfer) { transfers_.push_back(transfer); }
  bool done() const { return current_ == transfers_.size(); }
  pollfd entry() const {
    const bool reads = sends_ == (stage_ == Stage::acknowledgement);
    return {.fd = socket_, .events = static_cast<short>(reads ? POLLIN : POLLOUT), .revents = 0};
  }

  /// Goes on as far as it can now.
  Outcome proceed() {
    while (!done()) {
      const Transfer& transfer = transfers_[current_];
      if (stage_ == Stage::call && offset_ == 0 && sends_) {
        call_ = text(transfer.call);
      }
      void* const part = part_of(transfer);
      const std::size_t size = size_of(transfer);
      while (offset_ < size) {
        char* const rest = static_cast<char*>(part) + offset_;
        const bool writes = sends_ != (stage_ == Stage::acknowledgement);
        const std::ptrdiff_t moved =
            writes ? write_some(socket_, rest, size - offset_) : read_some(socket_, rest, size - offset_);
        if (moved < 0) {
          return lost(peer_);
        }
        if (moved == 0) {
          return {};
        }
        offset_ += static_cast<std::size_t>(moved);
      }
      if (stage_ == Stage::call && call_ != text(transfer.call)) {
        return {ncclInvalidUsage, "rank " + std::to_string(peer_) + " sends '" + call_.data() + "' where '" +
                                      transfer.call + "' is expected: calls must match in their order"};
      }
      go_on();
    }
    return {};
  }

 private:
  enum class Stage { call, data, acknowledgement };

  void* part_of(const Transfer& transfer) {
    return stage_ == Stage::call   ? call_.data()
           : stage_ == Stage::data ? static_cast<void*>(transfer.data)
                                   : &acknowledgement_;
  }
  std::size_t size_of(const Transfer& transfer) const {
    return stage_ == Stage::call   ? sizeof(call_)
           : stage_ == Stage::data ? transfer.bytes
                                   : sizeof(acknowledgement_);
  }
  void go_on() {
    offset_ = 0;
    if (stage_ == Stage::acknowledgement) {
      ++current_;
      stage_ = Stage::call;
    } else {
      stage_ = stage_ == Stage::call ? Stage::data : Stage::acknowledgement;
    }
  }

  int socket_;
  int peer_;
  bool sends_;
  std::vector<Transfer> transfers_;
  std::size_t current_ = 0;
  Stage stage_ = Stage::call;
  std::size_t offset_ = 0;
  Call call_ = {};
  char acknowledgement_ = 1;
};

/// What a rank sends to itself it receives in the same order.
Outcome copy_own(const std::vector<Transfer>& transfers, int rank) {
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  for (const Transfer& transfer : transfers) {
    if (transfer.peer == rank) {
      (transfer.sends ? sends : receives).push_back(transfer);
    }
  }
  for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    if (i >= sends.size() || i >= receives.size() || sends[i].bytes != receives[i].bytes) {
      return {ncclInvalidUsage, "a rank sends to itself what it does not receive in the same group"};
    }
    std::memmove(receives[i].data, sends[i].data, sends[i].bytes);
  }
  return {};
}

}  // namespace

Mesh::~Mesh() {
  closing_ = true;
  if (accepting_.joinable()) {
    accepting_.join();
  }
  for (const auto* sockets : {&outgoing_, &incoming_}) {
    for (const auto& [peer, socket] : *sockets) {
      ::close(socket);
    }
  }
  if (listener_ >= 0) {
    ::close(listener_);
  }
}

std::string Mesh::open_meeting_point() {
  std::string address;
  const int listener = listen_at_new_address(address);
  if (listener < 0) {
    return "";
  }
  std::thread(introduce_all, listener).detach();
  return address;
}

Outcome Mesh::meet(const std::string& meeting_point, int rank, int num_ranks, int gpu) {
  rank_ = rank;
  std::string own;
  listener_ = listen_at_new_address(own);
  const int root = connect_to(meeting_point);
  if (listener_ < 0 || root < 0) {
    return {ncclSystemError, "nobody is at the meeting point"};
  }
  const char* host = std::getenv("NCCL_HOSTID");
  const Member self = {.rank = rank,
                       .num_ranks = num_ranks,
                       .gpu = gpu,
                       .host = text(host == nullptr ? "this host" : host),
                       .address = text(own)};
  std::vector<Member> members(static_cast<std::size_t>(num_ranks));
  const bool met = write_all(root, &self, sizeof(self), aborted_) &&
                   read_all(root, members.data(), members.size() * sizeof(Member), aborted_);
  ::close(root);
  if (!met) {
    return {ncclRemoteError, "the meeting point was closed"};
  }
  for (const Member& member : members) {
    if (member.num_ranks != num_ranks) {
      return {ncclInvalidUsage, "ranks disagree on how many they are"};
    }
    addresses_.emplace_back(member.address.data());
  }
  accepting_ = std::thread([this] { accept_others(); });
  return duplicate_gpu(members, rank);
}

void Mesh::accept_others() {
  while (!closing_) {
    if (!readable_soon(listener_)) {
      continue;
    }
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    int peer = 0;
    if (socket >= 0 && read_all(socket, &peer, sizeof(peer), closing_)) {
      const std::lock_guard lock(mutex_);
      incoming_[peer] = socket;
      changed_.notify_all();
    }
  }
}

bool Mesh::connected(const std::vector<Transfer>& transfers) {
  const std::lock_guard lock(mutex_);
  return std::all_of(transfers.begin(), transfers.end(), [this](const Transfer& transfer) {
    return transfer.peer == rank_ || (transfer.sends ? outgoing_ : incoming_).contains(transfer.peer);
  });
}

Outcome Mesh::connect(const std::vector<Transfer>& transfers) {
  std::unique_lock lock(mutex_);
  for (const Transfer& transfer : transfers) {
    if (transfer.sends && transfer.peer != rank_ && !outgoing_.contains(transfer.peer)) {
      const int socket = connect_to(addresses_[static_cast<std::size_t>(transfer.peer)]);
      if (socket < 0 || !write_all(socket, &rank_, sizeof(rank_), aborted_)) {
        return lost(transfer.peer);
      }
      outgoing_[transfer.peer] = socket;
    }
  }
  for (const Transfer& transfer : transfers) {
    if (!transfer.sends && transfer.peer != rank_) {
      while (!incoming_.contains(transfer.peer)) {
        if (aborted_) {
          return {ncclInternalError, "aborted"};
        }
        changed_.wait_for(lock, std::chrono::milliseconds(5));
      }
    }
  }
  return {};
}

Outcome Mesh::exchange(std::vector<Transfer> transfers) {
  if (Outcome own = copy_own(transfers, rank_); own.result != ncclSuccess) {
    return own;
  }
  std::map<std::pair<int, bool>, Line> by_peer;
  for (const Transfer& transfer : transfers) {
    if (transfer.peer != rank_) {
      const std::lock_guard lock(mutex_);
      const int socket = (transfer.sends ? outgoing_ : incoming_).at(transfer.peer);
      by_peer.try_emplace({transfer.peer, transfer.sends}, socket, transfer).first->second.add(transfer);
    }
  }
  while (true) {
    std::vector<pollfd> waiting;
    for (auto& [key, line] : by_peer) {
      if (Outcome outcome = line.proceed(); outcome.result != ncclSuccess) {
        return outcome;
      }
      if (!line.done()) {
        waiting.push_back(line.entry());
      }
    }
    if (waiting.empty()) {
      return {};
    }
    if (aborted_) {
      return {ncclInternalError, "aborted"};
    }
    ::poll(waiting.data(), waiting.size(), 5);
  }
}

}  // namespace rehearsal
