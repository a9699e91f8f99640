#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/backend/shm/group.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

using Rows = std::vector<std::vector<float>>;

struct RankProcess {
  ShmGroup& group;
  Transport& transport;
  Transport& writing;
};

/// What containers and hardened systems do: from now on this process may not read the memory of another.
/// False where the kernel has no such filters.
bool forbid_remote_reads() {
  std::array filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = filter.size(), .filter = filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Runs `body` in a process per rank, after `before`; the ranks in which one of them returned false or threw.
std::vector<Rank> failed_in(
    int num_ranks, const std::function<bool(RankProcess)>& body,
    const std::function<bool(Rank)>& before = [](Rank) { return true; }) {
  const TemporaryDirectory directory;
  std::vector<pid_t> processes;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    processes.push_back(::fork());
    if (processes.back() == 0) {
      bool good = false;
      try {
        good = before(rank);
        const auto group =
            std::make_shared<ShmGroup>(RankPlace{.rank = rank,
                                                 .num_ranks = num_ranks,
                                                 .timeout = 2s,
                                                 .rendezvous = "file://" + directory.path().string(),
                                                 .group = "test"});
        const ShmTransports transports = make_shm_transports(group, nullptr);
        good = good && body({*group, *transports.reading, *transports.writing});
      } catch (const std::exception& exception) {
        ADD_FAILURE() << exception.what();
      }
      ::_exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
    }
  }
  std::vector<Rank> failed;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    int status = 0;
    ::waitpid(processes[static_cast<std::size_t>(rank)], &status, 0);
    if (status != 0) {
      failed.push_back(rank);
    }
  }
  return failed;
}

void run(const std::vector<std::unique_ptr<Transfer>>& transfers) {
  for (const auto& transfer : transfers) {
    transfer->start();
  }
  for (const auto& transfer : transfers) {
    transfer->wait();
  }
}

bool all_are(const std::vector<float>& row, float value) {
  return std::all_of(row.begin(), row.end(), [value](float element) { return element == value; });
}

/// 40 messages are more than a channel holds. They lie in the sender's memory, readable or not.
TEST(ShmTransport, MessagesOfEveryLengthMatchInOrderAlsoMoreThanAChannelHolds) {
  constexpr std::size_t kMany = 40;
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{100}, std::size_t{5'000}, std::size_t{300'000}}) {
    EXPECT_THAT(failed_in(2,
                          [&](RankProcess rank) {
                            Transport& transport = rank.transport;
                            Rows rows(kMany, std::vector<float>(length, 100));
                            std::vector<std::unique_ptr<Transfer>> transfers;
                            for (std::size_t i = 0; i < kMany; ++i) {
                              const std::span<std::byte> row = std::as_writable_bytes(std::span(rows[i]));
                              if (transport.rank() == 0) {
                                rows[i].assign(length, static_cast<float>(i));
                                transfers.push_back(transport.make_send(1, row));
                              } else if (i % 2 == 0) {
                                transfers.push_back(transport.make_receive(0, row));
                              } else {
                                transfers.push_back(transport.make_reducing_receive(0, {.target = row}));
                              }
                            }
                            run(transfers);
                            for (std::size_t i = 0; transport.rank() == 1 && i < kMany; ++i) {
                              if (!all_are(rows[i], static_cast<float>(i % 2 == 0 ? i : 100 + i))) {
                                return false;
                              }
                            }
                            return true;
                          }),
                ::testing::IsEmpty())
        << length << " elements";
  }
}

TEST(ShmTransport, WhatIsReducedIsAlsoWrittenToItsSender) {
  constexpr std::size_t kLength = 30'001;  // Several blocks, and a part of one.
  EXPECT_THAT(failed_in(2,
                        [](RankProcess rank) {
                          Transport& transport = rank.writing;
                          const OwnMemory memory = transport.allocate(2 * kLength * sizeof(float));
                          const auto half = [&](std::size_t i) {
                            return memory.bytes().subspan(i * kLength * sizeof(float),
                                                          kLength * sizeof(float));
                          };
                          const auto fill = [&](std::size_t i, float value) {
                            const std::vector<float> row(kLength, value);
                            std::memcpy(half(i).data(), row.data(), half(i).size());
                          };
                          fill(0, 1 + static_cast<float>(transport.rank()));
                          fill(1, 10);
                          std::vector<std::unique_ptr<Transfer>> transfers;
                          const Rank other = 1 - transport.rank();
                          transfers.push_back(transport.make_reducing_receive(other, {.target = half(1)}));
                          transfers.push_back(transport.make_send(other, half(0)));
                          run(transfers);
                          const auto is = [&](std::size_t i, float value) {
                            std::vector<float> row(kLength);
                            std::memcpy(row.data(), half(i).data(), half(i).size());
                            return all_are(row, value);
                          };
                          return is(0, 11 + static_cast<float>(transport.rank())) &&
                                 is(1, 11 + static_cast<float>(other));
                        }),
              ::testing::IsEmpty());
}

/// Only rank 1 may not read, and all ranks must know. When it looks, the message is gone from its sender's
/// memory, and so is the send.
TEST(ShmTransport, WhereOneRankMayNotReadOthersMessagesAreCopiedAndOutliveTheirSends) {
  constexpr std::size_t kLength = 300'000;
  EXPECT_THAT(failed_in(
                  3,
                  [](RankProcess rank) {
                    Transport& transport = rank.transport;
                    std::vector<float> row(kLength, static_cast<float>(10 + transport.rank()));
                    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(row));
                    if (rank.group.reads_remotely() || !transport.leaves_at_once(bytes)) {
                      return false;
                    }
                    const Rank right = (transport.rank() + 1) % 3;
                    const Rank left = (transport.rank() + 2) % 3;
                    for (int turn = 0; turn < 3; ++turn) {
                      std::vector<std::unique_ptr<Transfer>> sends;
                      sends.push_back(transport.make_send(right, bytes));
                      run(sends);
                      row.assign(kLength, -1);
                      sends.clear();
                      ::usleep(20'000);
                      std::vector<std::unique_ptr<Transfer>> receives;
                      receives.push_back(transport.make_reducing_receive(left, {.target = bytes}));
                      run(receives);
                      if (!all_are(row, static_cast<float>(9 + left))) {
                        return false;
                      }
                      row.assign(kLength, static_cast<float>(10 + transport.rank()));
                    }
                    return true;
                  },
                  [](Rank rank) { return rank != 1 || forbid_remote_reads(); }),
              ::testing::IsEmpty());
}

/// Every rank waits for its sends first, so nobody waits for a message while it arrives.
TEST(ShmTransport, LongMessagesMoveWhileTheirReceiverWaitsForSomethingElse) {
  EXPECT_THAT(failed_in(3,
                        [](RankProcess rank) {
                          Transport& transport = rank.transport;
                          const OwnMemory own = transport.allocate(1 << 20);
                          std::vector<OwnMemory> arrived;
                          std::vector<std::unique_ptr<Transfer>> transfers;
                          for (Rank peer = 0; peer < 3; ++peer) {
                            if (peer != transport.rank()) {
                              transfers.push_back(transport.make_send(peer, own.bytes()));
                            }
                          }
                          for (Rank peer = 0; peer < 3; ++peer) {
                            if (peer != transport.rank()) {
                              arrived.push_back(transport.allocate(1 << 20));
                              transfers.push_back(transport.make_receive(peer, arrived.back().bytes()));
                            }
                          }
                          own.bytes().back() = static_cast<std::byte>(7 + transport.rank());
                          run(transfers);
                          return arrived[0].bytes().back() ==
                                 static_cast<std::byte>(transport.rank() == 0 ? 8 : 7);
                        }),
              ::testing::IsEmpty());
}

/// So many waits sleep at once before one yields again.
int sleeps_of(Patience& patience) {
  int sleeps = 0;
  while (!patience.yields(8)) {
    ++sleeps;
  }
  return sleeps;
}

TEST(Patience, AfterAQuantumOfAnotherProgramTheNextWaitsSleepAtOnce) {
  Patience patience;
  patience.yielded(1ms);  // Another rank worked.
  EXPECT_EQ(sleeps_of(patience), 0);
  patience.yielded(1ms + 33ns);
  EXPECT_EQ(sleeps_of(patience), 512);
  EXPECT_EQ(sleeps_of(patience), 0) << "the machine is quiet again";
}

TEST(Patience, OtherRanksMayWorkForLongOnLongMessages) {
  Patience patience;
  EXPECT_TRUE(patience.yields(8'000'000));
  EXPECT_TRUE(patience.yields(8));  // The barrier after it: an eighth less is expected of the others.
  patience.yielded(1ms + 28ms);
  EXPECT_TRUE(patience.yields(8'000'000));
  EXPECT_TRUE(patience.yields(8));
  patience.yielded(1ms + 28ms + 1ns);
  EXPECT_EQ(sleeps_of(patience), 512);
  for (int wait = 0; wait < 100; ++wait) {
    EXPECT_TRUE(patience.yields(8));
  }
  patience.yielded(20ms);
  EXPECT_EQ(sleeps_of(patience), 512);
}

TEST(ShmTransport, APeerThatEndsIsMissedAtOnce) {
  EXPECT_THAT(failed_in(2,
                        [](RankProcess rank) {
                          if (rank.transport.rank() == 0) {
                            return true;
                          }
                          std::byte byte{};
                          const auto receive = rank.transport.make_receive(0, std::span(&byte, 1));
                          const auto begin = std::chrono::steady_clock::now();
                          receive->start();
                          try {
                            receive->wait();
                          } catch (const PeerLost& lost) {
                            return lost.peer() == 0 && lost.how() == PeerLost::How::gone &&
                                   std::chrono::steady_clock::now() - begin < 1s;
                          }
                          return false;
                        }),
              ::testing::IsEmpty());
}

TEST(ShmTransport, APeerThatSaysNothingIsLate) {
  EXPECT_THAT(failed_in(2,
                        [](RankProcess rank) {
                          if (rank.transport.rank() == 0) {
                            ::usleep(3'000'000);
                            return true;
                          }
                          std::byte byte{};
                          const auto receive = rank.transport.make_receive(0, std::span(&byte, 1));
                          receive->start();
                          try {
                            receive->wait();
                          } catch (const PeerLost& lost) {
                            return lost.how() == PeerLost::How::late &&
                                   std::string(lost.what()) == "rank 1 waited 2 s to receive from rank 0";
                          }
                          return false;
                        }),
              ::testing::IsEmpty());
}

TEST(ShmGroup, SharesCoresWhereMoreRanksThanCoresWorkOnThem) {
  // A thread of its own: the cores of this one stay as they are.
  std::thread([] {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &mine);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(mine), &mine), 0);
    EXPECT_FALSE(ShmGroup::of_threads(1, 5s)[0]->shares_cores());
    for (const auto& rank : ShmGroup::of_threads(2, 5s)) {
      EXPECT_TRUE(rank->shares_cores());
    }
  }).join();
}

TEST(ShmTransport, LengthsThatDifferAreAnError) {
  EXPECT_THAT(failed_in(2,
                        [](RankProcess rank) {
                          std::array<std::byte, 8> bytes{};
                          if (rank.transport.rank() == 0) {
                            run([&] {
                              std::vector<std::unique_ptr<Transfer>> sends;
                              sends.push_back(rank.transport.make_send(1, bytes));
                              return sends;
                            }());
                            return true;
                          }
                          const auto receive = rank.transport.make_receive(0, std::span(bytes).first(4));
                          receive->start();
                          try {
                            receive->wait();
                          } catch (const Error& error) {
                            return std::string(error.what()) ==
                                   "rank 0 sends 8 B to rank 1, which wants to receive 4 B";
                          }
                          return false;
                        }),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace ringside
