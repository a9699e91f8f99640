#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "real/backend/shm/group.hpp"
#include "real/system/posix.hpp"

/// Ranks of the shm backend that are all in this process, so that a test sees each step from both sides.
namespace ringside {

using OwnBytes = std::vector<std::byte>;
using ShmGroups = std::vector<std::shared_ptr<ShmGroup>>;

inline RankPlace place_here(const TemporaryDirectory& directory, Rank rank, int num_ranks) {
  return {.backend = Backend::shm,
          .rank = rank,
          .num_ranks = num_ranks,
          .timeout = std::chrono::seconds(20),
          .rendezvous = "file://" + directory.path().string(),
          .group = "here"};
}

/// Each meets the others in a thread of its own, after `before`.
inline ShmGroups met(
    int num_ranks, std::chrono::milliseconds timeout = std::chrono::seconds(20),
    const std::function<void(Rank)>& before = [](Rank) {}) {
  const TemporaryDirectory directory;
  std::vector<std::future<std::shared_ptr<ShmGroup>>> joining;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    joining.push_back(std::async(std::launch::async, [&, rank] {
      before(rank);
      RankPlace place = place_here(directory, rank, num_ranks);
      place.timeout = timeout;
      place.meeting_timeout = std::chrono::seconds(20);
      return std::make_shared<ShmGroup>(place);
    }));
  }
  ShmGroups groups;
  for (auto& one : joining) {
    groups.push_back(one.get());
  }
  return groups;
}

/// Runs `body` in a thread that may not read the memory of processes, as in some containers.
inline void without_remote_reads(const std::function<void()>& body) {
  std::thread([&] {
    std::array filter = {
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {.len = filter.size(), .filter = filter.data()};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    body();
  }).join();
}

inline OwnBytes numbered(std::size_t size, unsigned seed) {
  OwnBytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  }
  return bytes;
}

}  // namespace ringside
