#include "ringside/launch.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "real/backend/backends.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

struct Caught {
  ErrorKind kind = ErrorKind::bad_input;
  std::string text = "nothing was thrown";
};

Caught caught(const RankGroup& group, const RankFunction& function) {
  try {
    launch(group, function);
  } catch (const Error& error) {
    return {.kind = error.kind(), .text = error.what()};
  }
  return {};
}

/// What must hold at a rank that may be another process: a failed expectation there would stay unheard.
void require(bool condition, const std::string& what) {
  if (!condition) {
    throw std::runtime_error(what);
  }
}

class Launch : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (const std::optional<std::string> reason = cannot_launch(GetParam())) {
      GTEST_SKIP() << *reason;
    }
  }
  static RankGroup group(int ranks, std::chrono::milliseconds timeout = 20s) {
    return {.ranks = ranks, .backend = GetParam(), .timeout = timeout};
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, Launch, ::testing::Values(Backend::gloo, Backend::shm, Backend::threads),
                         [](const auto& parameter) { return std::string(name(parameter.param)); });

TEST_P(Launch, EveryRankRunsTheFunctionAndAllMeet) {
  for (const int ranks : {1, 2, 3, 8}) {
    launch(group(ranks), [&](Communicator& communicator) {
      require(communicator.ranks() == ranks, "number of ranks");
      std::vector<std::int64_t> message = {communicator.rank(), 1};
      for (const char* algorithm : {"naive", "ring", "double_binary_tree"}) {
        message = {communicator.rank(), 1};
        communicator.all_reduce(message, ReduceOp::sum, algorithm);
        require(message[0] == ranks * (ranks - 1) / 2 && message[1] == ranks, algorithm);
      }
      communicator.barrier();
    });
  }
}

TEST_P(Launch, WhatARankThrowsComesBackWithItsNumber) {
  const Caught error = caught(group(3), [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      throw std::runtime_error("has had enough");
    }
    communicator.barrier();
  });
  EXPECT_EQ(error.kind, ErrorKind::failed);
  EXPECT_EQ(error.text, "rank 1 failed while running as one of 3 ranks: has had enough");
}

TEST_P(Launch, WhatIsNoExceptionComesBackToo) {
  const Caught error = caught(group(2), [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      throw 42;  // That is what is tested
    }
    communicator.barrier();
  });
  EXPECT_EQ(error.kind, ErrorKind::failed);
  EXPECT_EQ(error.text, "rank 1 failed while running as one of 2 ranks: what it threw is no std::exception");
}

TEST_P(Launch, TheKindOfAnErrorIsKept) {
  const Caught error = caught(group(2), [](Communicator& communicator) {
    std::vector<float> message(4);
    communicator.all_reduce(message, ReduceOp::sum, "rng");
  });
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_THAT(error.text, HasSubstr("did you mean 'ring'?"));
}

TEST_P(Launch, RanksThatWaitForEachOtherAreNamedAtTheDeadline) {
  const Caught error = caught(group(2, 300ms), [](Communicator& communicator) {
    const std::vector<float> message(1 << 20);            // Short ones may wait in a buffer.
    communicator.send(message, 1 - communicator.rank());  // Both send first: nobody receives.
  });
  EXPECT_EQ(error.kind, ErrorKind::peer_lost);
  EXPECT_THAT(error.text, AnyOf(HasSubstr("rank 0 waited 300 ms to send to rank 1"),
                                HasSubstr("rank 1 waited 300 ms to send to rank 0")));
}

TEST_P(Launch, ARankThatLeavesEarlyIsNamed) {
  const Caught error = caught(group(2, 300ms), [](Communicator& communicator) {
    std::vector<float> message(4);
    if (communicator.rank() == 0) {
      communicator.recv(message, 1);
    }
  });
  EXPECT_EQ(error.kind, ErrorKind::peer_lost);
  // Threads see at once that the other has ended.
  EXPECT_THAT(error.text, AnyOf(HasSubstr("rank 0 waited 300 ms to receive from rank 1"),
                                HasSubstr("rank 0 lost rank 1")));
}

TEST_P(Launch, MessagesOfDifferentSizesAreAnErrorWithBothSizes) {
  for (const std::size_t sent : {4U, 12U}) {  // Gloo alone would fill a part of the memory, or abort.
    const Caught error = caught(group(2), [&](Communicator& communicator) {
      std::vector<float> message(communicator.rank() == 0 ? sent : 8);
      if (communicator.rank() == 0) {
        communicator.send(message, 1);
      } else {
        communicator.recv(message, 0);
      }
    });
    EXPECT_EQ(error.kind, ErrorKind::bad_input);
    EXPECT_THAT(error.text, HasSubstr(fmt::format("rank 0 sends {} B to rank 1, which wants to receive 32 B",
                                                  sent * sizeof(float))));
  }
}

TEST_P(Launch, CollectivesOfDifferentSizesAreAnErrorWithBothRanksAndSizes) {
  for (const int equal_calls : {0, 5}) {
    for (const int ranks : {2, 4}) {
      const Caught error = caught(group(ranks), [&](Communicator& communicator) {
        std::vector<float> message(100);
        for (int call = 0; call < equal_calls; ++call) {
          communicator.all_reduce(message);
        }
        message.resize(communicator.rank() == 1 ? 101 : 100);
        communicator.all_reduce(message);
      });
      EXPECT_EQ(error.kind, ErrorKind::bad_input);
      EXPECT_THAT(error.text, AllOf(HasSubstr("rank 1 called all_reduce of 101 float32 (sum, ring)"),
                                    HasSubstr("called all_reduce of 100 float32 (sum, ring)"),
                                    HasSubstr("at the same point")));
    }
  }
}

TEST_P(Launch, ADifferentCallOfAnyKindIsAnErrorInsteadOfAHang) {
  const std::vector<RankFunction> others = {
      [](Communicator& communicator) { communicator.barrier(); },
      [](Communicator& communicator) {
        std::vector<double> message(4);
        communicator.all_reduce(message);
      },
      [](Communicator& communicator) {
        std::vector<float> message(4);
        communicator.all_reduce(message, ReduceOp::max);
      },
      [](Communicator& communicator) {
        std::vector<float> message(4);
        communicator.all_reduce(message, ReduceOp::sum, "naive");
      },
      [](Communicator& communicator) {
        std::vector<float> message(4);
        communicator.broadcast(message, 1);
      },
      [](Communicator& communicator) {
        std::vector<float> none;
        communicator.all_reduce(none);
      },
  };
  for (const RankFunction& other : others) {
    const Caught error = caught(group(3), [&](Communicator& communicator) {
      std::vector<float> message(4);
      if (communicator.rank() == 2) {
        other(communicator);
      }
      communicator.all_reduce(message);
    });
    EXPECT_EQ(error.kind, ErrorKind::bad_input);
    EXPECT_THAT(error.text, AllOf(HasSubstr("all_reduce of 4 float32 (sum, ring)"),
                                  HasSubstr("all ranks make the same collective calls in the same order")));
  }
}

TEST(RankGroup, WaitsAMinuteUnlessTold) { EXPECT_EQ(RankGroup{}.timeout, 60s); }

TEST_P(Launch, NoRankIsNoGroup) {
  EXPECT_EQ(caught(group(0), [](Communicator&) {}).text, "at least one rank is needed, not 0");
  EXPECT_EQ(caught(group(1025), [](Communicator&) {}).text,
            "1025 ranks are too many for one machine; ringside starts up to 1024");
  RankGroup none_of_a_gpu = group(2);
  none_of_a_gpu.ranks_per_gpu = 0;
  EXPECT_EQ(caught(none_of_a_gpu, [](Communicator&) {}).text, "a GPU takes at least one rank, not 0");
}

TEST(LaunchThreads, RanksOfAnotherLauncherStartNoneOfTheirOwn) {
  ::setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  const Caught error = caught({.ranks = 2, .backend = Backend::threads}, [](Communicator&) {});
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_EQ(error.text,
            "Open MPI started this process as rank 1 of 4, and launch() would start ranks of its own in each "
            "of them; "
            "run the program without it");
}

TEST(LaunchProcesses, ARankThatDiesIsNamedWithItsSignalOrStatus) {
  if (const std::optional<std::string> reason = cannot_launch(Backend::gloo)) {
    GTEST_SKIP() << *reason;
  }
  Caught error = caught({.ranks = 4}, [](Communicator& communicator) {
    if (communicator.rank() == 2) {
      ::raise(SIGKILL);
    }
    communicator.barrier();
  });
  EXPECT_EQ(error.kind, ErrorKind::peer_lost);
  EXPECT_EQ(error.text, "rank 2 was killed by signal 9 (Killed) while running as one of 4 ranks");

  error = caught({.ranks = 2}, [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      ::_exit(5);
    }
    communicator.barrier();
  });
  EXPECT_EQ(error.text, "rank 1 ended with exit status 5 while running as one of 2 ranks");
}

TEST(LaunchProcesses, ARankThatIsStoppedIsNamed) {
  if (const std::optional<std::string> reason = cannot_launch(Backend::gloo)) {
    GTEST_SKIP() << *reason;
  }
  const Caught error = caught({.ranks = 3, .timeout = 300ms}, [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      ::raise(SIGSTOP);
    }
    communicator.barrier();
  });
  EXPECT_EQ(error.text,
            "rank 1 did not answer within 300 ms while running as one of 3 ranks (it is stopped)");
}

TEST(LaunchProcesses, MemoryIsARanksOwn) {
  if (const std::optional<std::string> reason = cannot_launch(Backend::gloo)) {
    GTEST_SKIP() << *reason;
  }
  int value = 1;
  launch(2, [&](Communicator& communicator) {
    std::vector<std::int32_t> seen = {value};
    value += 1 + communicator.rank();
    communicator.all_reduce(seen);
    require(seen.front() == 2, "each rank starts from the caller's value");
  });
  EXPECT_EQ(value, 1);
}

TEST(LaunchProcesses, TheLibrarysOwnCollectiveIsAnAlgorithmToo) {
  if (const std::optional<std::string> reason = cannot_launch(Backend::gloo)) {
    GTEST_SKIP() << *reason;
  }
  launch(3, [](Communicator& communicator) {
    std::vector<float> message(1000, static_cast<float>(communicator.rank()));
    communicator.all_reduce(message, ReduceOp::sum, "native");
    for (const float element : message) {
      require(element == 3.0F, "the sum of three ranks");
    }
    const std::vector<float> own = {static_cast<float>(communicator.rank())};
    std::vector<float> all(3);
    communicator.all_gather(own, all, "native");
    require(all == std::vector<float>{0, 1, 2}, "in order of rank");
  });
}

TEST(LaunchProcesses, RanksOnGpusThatAreNotThereAreRefusedWithTheReason) {
  const std::optional<std::string> reason = registered(Backend::nccl).unavailable();
  if (!reason) {
    GTEST_SKIP() << "there are GPUs";
  }
  EXPECT_EQ(cannot_launch(Backend::nccl), reason);
  EXPECT_EQ(caught({.ranks = 2, .backend = Backend::nccl}, [](Communicator&) {}).text, *reason);
}

TEST(LaunchProcesses, RanksThatOnlyALauncherStartsAreRefused) {
  const Caught error = caught({.ranks = 2, .backend = Backend::mpi}, [](Communicator&) {});
  EXPECT_EQ(error.kind, ErrorKind::environment);
  EXPECT_EQ(error.text, "ranks of mpi are started by mpirun or srun, not by launch()");
}

}  // namespace
}  // namespace ringside
