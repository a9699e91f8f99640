// The all_reduce of the shm backend's own, and what a rank has of the backend.

#include <array>
#include <filesystem>
#include <future>
#include <system_error>

#include <gtest/gtest.h>

#include "real/backend/backends.hpp"
#include "real/execute/collective_values.hpp"
#include "tests/real/backend/shm/in_one_process.hpp"

namespace ringside {
namespace {

/// All bytes of the shared memory that ranks of this process have.
std::int64_t shared_bytes() {
  std::int64_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone).string().starts_with("/memfd:ringside-rank")) {
      sum += static_cast<std::int64_t>(std::filesystem::file_size(entry.path(), gone));
    }
  }
  return sum;
}

class ShmNative : public ::testing::Test {
 protected:
  void join(int num_ranks) {
    ranks_.clear();
    std::vector<std::future<RankBackend>> joining;
    const TemporaryDirectory directory;
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      joining.push_back(std::async(std::launch::async, [&, rank] {
        RankPlace place = place_here(directory, rank, num_ranks);
        place.progress = &progress_[static_cast<std::size_t>(rank)];
        return join_ranks(place);
      }));
    }
    for (auto& one : joining) {
      ranks_.push_back(one.get());
    }
  }

  std::array<Progress, 3> progress_;
  std::vector<RankBackend> ranks_;
};

TEST_F(ShmNative, JoinedRanksHaveAllThatTheBackendPromises) {
  join(2);
  for (std::size_t i = 0; i < 2; ++i) {
    const RankBackend& rank = ranks_[i];
    EXPECT_EQ(rank.backend, Backend::shm);
    EXPECT_EQ(rank.transport->rank(), static_cast<Rank>(i));
    EXPECT_EQ(rank.library_transport->rank(), static_cast<Rank>(i));
    EXPECT_EQ(rank.library_transport->num_ranks(), 2);
    EXPECT_EQ(rank.progress, &progress_[i]);
    EXPECT_EQ(rank.cpu_site, RankSite::memory);
    EXPECT_TRUE(rank.keeps_scheduling);
    EXPECT_EQ(rank.device, nullptr);
  }
}

TEST_F(ShmNative, OnlyLongMessagesOfPrivateMemoryTakeMemoryThatAllSee) {
  join(1);
  const std::int64_t most = one_shot(false).value;  // One rank has a core of its own.
  const std::int64_t before = shared_bytes();
  const auto grown = [&](std::int64_t bytes, std::span<std::byte> message) {
    const NativeCall call =
        ranks_[0].make_native({.num_elements = bytes / 4}, message.first(static_cast<std::size_t>(bytes)));
    return shared_bytes() - before;
  };
  OwnBytes own(1 << 20);
  EXPECT_EQ(grown(most - 4, own), 0);
  EXPECT_EQ(grown(most, own), 0);
  EXPECT_EQ(grown(most + 4, own), 4096);
  EXPECT_EQ(grown(most + 4, own), 4096) << "given back, and taken again";
  const OwnMemory seen = ranks_[0].transport->allocate(8192);
  const std::int64_t with_seen = shared_bytes() - before;
  EXPECT_EQ(grown(8192, seen.bytes()), with_seen);
}

TEST_F(ShmNative, AllReduceIsExactForEveryLengthWhereverTheMessageLies) {
  std::array<std::uint64_t, 3> steps{};
  for (const int num_ranks : {1, 2, 3}) {
    join(num_ranks);
    for (const std::int64_t count : {0, 1, 33, 64, 65, 1024, 1025, 12'345, 60'001}) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg}) {
        const CollectiveCall call = {
            .num_ranks = num_ranks, .dtype = DataType::int64, .op = op, .num_elements = count};
        std::vector<std::future<void>> running;
        for (Rank rank = 0; rank < num_ranks; ++rank) {
          running.push_back(std::async(std::launch::async, [&, rank] {
            RankBackend& backend = ranks_[static_cast<std::size_t>(rank)];
            // Some see it, and others do not.
            const OwnMemory memory =
                rank == 1 ? backend.transport->allocate(count * 8) : OwnMemory(count * 8);
            const NativeCall native = backend.make_native(call, memory.bytes());
            for (std::uint64_t seed = 1; seed < 4; ++seed) {
              const CollectiveValues values(call, seed);
              values.write_input(rank, memory.bytes());
              native();
              EXPECT_EQ(values.first_wrong(rank, memory.bytes()), std::nullopt)
                  << count << " elements, " << seed;
            }
          }));
        }
        for (std::size_t rank = 0; rank < running.size(); ++rank) {
          running[rank].get();
          steps[rank] += count == 0 ? 0 : 3;
          EXPECT_EQ(progress_[rank].steps(), steps[rank]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringside
