#include "real/backend/shm/shared_memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kReserved = 4096;

PeerMemory peer_of(const SharedMemory& memory) { return {FileDescriptor(::dup(memory.file())), kReserved}; }

TEST(SharedMemory, APeerReadsWhatItsOwnerWrites) {
  SharedMemory memory(kReserved);
  PeerMemory peer = peer_of(memory);
  std::memcpy(memory.reserved(), "header", 7);
  EXPECT_STREQ(reinterpret_cast<const char*>(peer.reserved()), "header");
  for (const std::int64_t bytes : {10LL, 5'000LL, 3'000'000LL, 20'000'000LL}) {  // The file grows meanwhile.
    const std::span<std::byte> piece = memory.take(bytes);
    const std::int64_t offset = memory.offset_of(piece);
    ASSERT_GT(offset, 0);
    piece.back() = std::byte{42};
    std::byte* const seen = peer.at(offset, bytes);
    ASSERT_NE(seen, nullptr);
    EXPECT_EQ(seen[bytes - 1], std::byte{42});
    seen[0] = std::byte{43};
    EXPECT_EQ(piece.front(), std::byte{43});
  }
}

TEST(SharedMemory, WhatIsGivenBackIsTakenAgainAndZero) {
  SharedMemory memory(kReserved);
  const std::span<std::byte> first = memory.take(8192);
  const std::int64_t offset = memory.offset_of(first);
  first.front() = std::byte{1};
  memory.give_back(first.data());
  const std::span<std::byte> second = memory.take(4096);
  EXPECT_EQ(memory.offset_of(second), offset);
  EXPECT_EQ(second.front(), std::byte{0});
}

TEST(SharedMemory, WhatIsTooShortToBeTakenAgainGoesBackToTheSystem) {
  const auto pages = [](const SharedMemory& memory) {
    struct stat facts {};
    return ::fstat(memory.file(), &facts) == 0 ? facts.st_blocks * 512 / 4096 : -1;
  };
  SharedMemory memory(kReserved);
  const auto before = pages(memory);
  memory.give_back(memory.take(8 * 4096).data());
  EXPECT_EQ(pages(memory), before + 8) << "kept for the next one";
  const std::span<std::byte> longer = memory.take(9 * 4096);
  EXPECT_EQ(pages(memory), before + 9);
  EXPECT_EQ(longer.back(), std::byte{0});
}

TEST(SharedMemory, PiecesDoNotOverlap) {
  SharedMemory memory(kReserved);
  const std::span<std::byte> a = memory.take(3LL << 20);
  const std::span<std::byte> b = memory.take(4096);
  const std::span<std::byte> c = memory.take(3LL << 20);
  memory.give_back(b.data());
  const std::span<std::byte> d = memory.take(3LL << 20);
  std::memset(a.data(), 1, a.size());
  std::memset(c.data(), 2, c.size());
  std::memset(d.data(), 3, d.size());
  EXPECT_EQ(a.back(), std::byte{1});
  EXPECT_EQ(c.back(), std::byte{2});
  EXPECT_EQ(c.front(), std::byte{2});
}

TEST(SharedMemory, NoPieceLiesInAHugePageOfWhatIsReserved) {
  constexpr std::int64_t kHugePage = 2LL << 20;
  SharedMemory memory(3 * kHugePage / 2);
  EXPECT_EQ(memory.offset_of(memory.take(kReserved)), 2 * kHugePage);
}

TEST(SharedMemory, OnlyItsOwnBytesHaveAPlace) {
  SharedMemory memory(kReserved);
  const std::span<std::byte> piece = memory.take(10'000);
  std::byte other{};
  EXPECT_LT(memory.offset_of(std::span(&other, 1)), 0);
  EXPECT_EQ(memory.offset_of(piece.subspan(100, 10)), memory.offset_of(piece) + 100);
  EXPECT_LT(memory.offset_of({piece.data(), 1 << 20}), 0) << "it is longer than the piece";
}

TEST(SharedMemory, APlaceBeyondTheFileIsNone) {
  SharedMemory memory(kReserved);
  PeerMemory peer = peer_of(memory);
  EXPECT_EQ(peer.at(1LL << 40, 1), nullptr);
}

TEST(SharedMemory, HasNoNameInDevShm) {
  const auto names = [] {
    std::error_code none;
    return std::distance(std::filesystem::directory_iterator("/dev/shm", none), {});
  };
  const auto before = names();
  SharedMemory memory(kReserved);
  memory.take(1 << 20);
  EXPECT_EQ(names(), before);
}

/// kB of huge pages in the mappings of this process.
std::int64_t huge_pages() {
  std::ifstream maps("/proc/self/smaps");
  std::int64_t sum = 0;
  for (std::string key; maps >> key;) {
    std::int64_t value = 0;
    if (key == "ShmemPmdMapped:" && maps >> value) {
      sum += value;
    }
  }
  return sum;
}

TEST(SharedMemory, HasHugePagesWhereTheyAreGiven) {
  std::string given;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/shmem_enabled"), given);
  if (given.find("[always]") == std::string::npos && given.find("[advise]") == std::string::npos) {
    GTEST_SKIP() << "shmem_enabled is: " << given;
  }
  SharedMemory memory(kReserved);
  const std::int64_t before = huge_pages();
  const std::span<std::byte> piece = memory.take(8 << 20);
  EXPECT_EQ(huge_pages() - before, 8 << 10);
  PeerMemory peer = peer_of(memory);
  peer.at(memory.offset_of(piece), 8 << 20)[5 << 20] = std::byte{1};
  EXPECT_EQ(piece[5 << 20], std::byte{1});
}

TEST(SharedMemory, ALimitOfFileSizesIsSaidAndEndsNothing) {
  SharedMemory memory(kReserved);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit = {.rlim_cur = 8 << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string said;
  try {
    memory.take(64LL << 20);
  } catch (const Error& error) {
    said = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(said, ::testing::HasSubstr("ulimit -f"));
  EXPECT_FALSE(memory.take(64LL << 20).empty()) << "it is as it was";
}

/// In a process of its own that the kernel ends before all others: where this fails, memory is used up.
TEST(SharedMemory, MoreThanThereIsIsRefused) {
  const pid_t process = ::fork();
  if (process == 0) {
    std::ofstream("/proc/self/oom_score_adj") << 1000 << std::flush;
    bool refused = false;
    try {
      SharedMemory(kReserved).take(1LL << 50);
    } catch (const std::bad_alloc&) {
      refused = true;
    }
    ::_exit(refused ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) << status;
}

}  // namespace
}  // namespace ringside
