#include "real/backend/shm/shared_memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <utility>
#include <vector>

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

std::int64_t file_size(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 ? facts.st_size : -1;
}

/// So many mappings of shared memory does this process have.
std::int64_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::int64_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("/memfd:ringside-rank") != std::string::npos ? 1 : 0;
  }
  return count;
}

TEST(SharedMemory, PiecesLieInTheFirstGapThatIsLargeEnough) {
  constexpr std::int64_t kHugePage = 2LL << 20;
  constexpr std::int64_t kPage = 4096;
  SharedMemory memory(kReserved);
  EXPECT_EQ(file_size(memory.file()), kHugePage);
  std::vector<std::span<std::byte>> pieces;
  const auto taken_at = [&](std::int64_t bytes) {
    pieces.push_back(memory.take(bytes));
    EXPECT_EQ(static_cast<std::int64_t>(pieces.back().size()), bytes);
    return memory.offset_of(pieces.back()) - kHugePage;
  };
  EXPECT_TRUE(memory.take(0).empty());
  EXPECT_EQ(taken_at(1), 0);
  EXPECT_EQ(taken_at(kPage), kPage);
  EXPECT_EQ(taken_at(kPage + 1), 2 * kPage);
  EXPECT_EQ(taken_at(kPage), 4 * kPage);
  EXPECT_EQ(file_size(memory.file()), kHugePage + 5 * kPage);
  EXPECT_EQ(taken_at(kHugePage), kHugePage) << "it begins where a huge page may";
  EXPECT_EQ(taken_at(kHugePage - 5 * kPage), 5 * kPage) << "before it there is just room";
  EXPECT_EQ(file_size(memory.file()), 3 * kHugePage);
  memory.give_back(pieces[2].data());
  EXPECT_EQ(taken_at(3 * kPage), 2 * kHugePage) << "what was given back is too short";
  EXPECT_EQ(taken_at(2 * kPage), 2 * kPage) << "and a gap again, of just this length";
  pieces.back().back() = std::byte{1};
  memory.give_back(pieces.back().data());
  EXPECT_EQ(taken_at(2 * kPage), 2 * kPage);
  EXPECT_EQ(pieces.back().back(), std::byte{0});
}

TEST(SharedMemory, APeerSeesTheFileToItsEndAndNoFurther) {
  SharedMemory memory(kReserved);
  PeerMemory peer = peer_of(memory);
  for (const std::int64_t bytes : {0, 4096, 100'000, 5'000'000}) {  // It grows meanwhile.
    const std::span<std::byte> piece = memory.take(bytes);
    const std::int64_t size = file_size(memory.file());
    EXPECT_EQ(peer.at(size, 1), nullptr);
    EXPECT_EQ(peer.at(size - 1, 2), nullptr);
    EXPECT_EQ(peer.at(1LL << 40, 1), nullptr);
    ASSERT_NE(peer.at(size - 1, 1), nullptr);
    ASSERT_NE(peer.at(0, size), nullptr);
    EXPECT_EQ(peer.at(size - 1, 1) - peer.at(0, 1), size - 1);
    if (bytes > 0) {
      piece.back() = std::byte{9};
      EXPECT_EQ(*peer.at(memory.offset_of(piece) + bytes - 1, 1), std::byte{9});
    }
  }
}

TEST(SharedMemory, MappingsMoveGrowAndEnd) {
  const std::int64_t before = mappings();
  {
    SharedMemory memory(kReserved);
    memory.give_back(memory.take(10'000).data());
    Mapping first(memory.file(), 0, 5000);
    EXPECT_EQ(first.size(), 8192);
    std::memcpy(first.data() + 8000, "end", 4);
    first.grow(100'000);
    EXPECT_EQ(first.size(), 102'400);
    EXPECT_STREQ(reinterpret_cast<const char*>(first.data() + 8000), "end");
    first.data()[102'399] = std::byte{1};
    EXPECT_THROW(first.grow(1LL << 50), std::bad_alloc);
    Mapping second(std::move(first));
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.size(), 0);
    first = std::move(second);
    EXPECT_EQ(first.size(), 102'400);
    EXPECT_EQ(first.data()[102'399], std::byte{1});
    EXPECT_EQ(second.data(), nullptr);
    EXPECT_EQ(mappings() - before, 3) << "what is reserved, what is kept, and this one";
    EXPECT_THROW(Mapping(-1, 0, 1), std::bad_alloc);
  }
  EXPECT_EQ(mappings(), before);
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

/// What is said when files, or open files, may not be more than so many.
template <typename Call>
std::string said_below(decltype(RLIMIT_FSIZE) resource, rlim_t most, const Call& call) {
  rlimit before{};
  ::getrlimit(resource, &before);
  const rlimit limit = {.rlim_cur = most, .rlim_max = before.rlim_max};
  EXPECT_EQ(::setrlimit(resource, &limit), 0);
  std::string said;
  try {
    call();
  } catch (const Error& error) {
    said = error.what();
  }
  ::setrlimit(resource, &before);
  return said;
}

TEST(SharedMemory, LimitsAreSaidAndEndNothing) {
  constexpr rlim_t kMi = 1 << 20;
  SharedMemory memory(kReserved);
  const auto take = [&] { memory.take(6 * kMi); };
  const auto make = [] { SharedMemory another(kReserved); };
  EXPECT_EQ(said_below(RLIMIT_FSIZE, 8 * kMi - 4096, take),
            "a rank needs 8 MiB of shared memory, but files may have at most 8188 KiB here (ulimit -f)");
  EXPECT_EQ(said_below(RLIMIT_FSIZE, 8 * kMi, take), "") << "it is as it was";
  EXPECT_EQ(said_below(RLIMIT_FSIZE, 2 * kMi - 4096, make),
            "a rank needs 2 MiB of shared memory, but files may have at most 2044 KiB here (ulimit -f)");
  EXPECT_EQ(said_below(RLIMIT_FSIZE, 2 * kMi, make), "");
  EXPECT_EQ(said_below(RLIMIT_NOFILE, 0, make), "there is no shared memory here: Too many open files");
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
