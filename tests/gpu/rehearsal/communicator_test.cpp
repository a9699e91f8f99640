// The public API with ranks on the rehearsal device: messages in the host's memory and in that of GPUs.
#include "ringside/communicator.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/gpu_array.hpp"
#include "ringside/launch.hpp"
#include "schedule/registry.hpp"
#include "tests/ringside/error_of.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kCount = 37;

/// What a rank finds wrong reaches the parent as its error.
void check(bool right, const std::string& what) {
  if (!right) {
    throw Error(ErrorKind::failed, what + " is wrong");
  }
}

void check_cuda_call(cudaError_t status) { check(status == cudaSuccess, "a call of CUDA"); }

void on_gpus(int ranks, const RankFunction& function, int ranks_per_gpu = 1,
             std::chrono::milliseconds timeout = 20s) {
  launch({.ranks = ranks, .backend = Backend::nccl, .timeout = timeout, .ranks_per_gpu = ranks_per_gpu},
         function);
}

/// What rank `rank` brings: different in every element.
template <typename T>
std::vector<T> own(Rank rank, int count = kCount) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), static_cast<T>(100 * rank));
  return values;
}

template <typename T>
std::vector<T> sum(int ranks, int count = kCount) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<T>(100 * ranks * (ranks - 1) / 2 + ranks * i);
  }
  return values;
}

std::vector<std::string> algorithms(Collective collective, int ranks) {
  std::vector<std::string> names = algorithm_names(collective);
  // What needs a power of two, or hosts, is refused elsewhere.
  std::erase_if(names, [&](const std::string& name) {
    const auto unsupported = find_algorithm(collective, name)->unsupported;
    return unsupported && unsupported({.collective = collective, .num_ranks = ranks}).has_value();
  });
  if (collective != Collective::gather) {
    names.emplace_back(kNative);
  }
  return names;
}

/// Runs `call` on values in the host's memory and on the same on the GPU; both must become `due`.
template <typename T, typename Call>
void check_both(Communicator& communicator, const std::vector<T>& before, const std::vector<T>& due,
                const std::string& what, const Call& call) {
  std::vector<T> host = before;
  call(Elements(host));
  check(due.empty() || host == due, what + " in the host's memory");
  GpuArray<T> array(communicator, before);
  call(Elements(array));
  check(due.empty() || array.read() == due, what + " in the GPU's memory");
}

template <typename T>
void check_collectives(Communicator& communicator) {
  const int n = communicator.ranks();
  const Rank rank = communicator.rank();
  const Rank root = n - 1;
  const std::vector<T> all_sum = sum<T>(n);
  for (const std::string& algorithm : algorithms(Collective::all_reduce, n)) {
    check_both(communicator, own<T>(rank), all_sum, "all_reduce, " + algorithm,
               [&](Elements message) { communicator.all_reduce(message, ReduceOp::sum, algorithm); });
  }
  for (const std::string& algorithm : algorithms(Collective::broadcast, n)) {
    check_both(communicator, own<T>(rank), own<T>(root), "broadcast, " + algorithm,
               [&](Elements message) { communicator.broadcast(message, root, algorithm); });
  }
  for (const std::string& algorithm : algorithms(Collective::reduce, n)) {
    check_both(communicator, own<T>(rank), rank == root ? all_sum : std::vector<T>(), "reduce, " + algorithm,
               [&](Elements message) { communicator.reduce(message, root, ReduceOp::sum, algorithm); });
  }
  const std::vector<T> nothing(static_cast<std::size_t>(n * kCount));
  std::vector<T> gathered;
  for (Rank other = 0; other < n; ++other) {
    const std::vector<T> part = own<T>(other);
    gathered.insert(gathered.end(), part.begin(), part.end());
  }
  const GpuArray<T> mine(communicator, own<T>(rank));
  for (const std::string& algorithm : algorithms(Collective::gather, n)) {
    check_both(communicator, nothing, rank == root ? gathered : nothing, "gather, " + algorithm,
               [&](Elements all) { communicator.gather(mine, all, root, algorithm); });
  }
  for (const std::string& algorithm : algorithms(Collective::all_gather, n)) {
    check_both(communicator, nothing, gathered, "all_gather, " + algorithm,
               [&](Elements all) { communicator.all_gather(mine, all, algorithm); });
  }
  const std::vector<T> whole_sum = sum<T>(n, n * kCount);
  const auto first = whole_sum.begin() + rank * kCount;
  for (const std::string& algorithm : algorithms(Collective::reduce_scatter, n)) {
    const GpuArray<T> all(communicator, own<T>(rank, n * kCount));
    check_both(communicator, std::vector<T>(kCount), std::vector<T>(first, first + kCount),
               "reduce_scatter, " + algorithm,
               [&](Elements part) { communicator.reduce_scatter(all, part, ReduceOp::sum, algorithm); });
  }
}

class CommunicatorOnGpus : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CommunicatorOnGpus, ::testing::Values(1, 2, 3, 4));

TEST_P(CommunicatorOnGpus, EveryCollectiveIsExactInBothMemories) {
  on_gpus(GetParam(), [](Communicator& communicator) {
    check(communicator.gpu() == communicator.rank(), "the number of the GPU");
    check_collectives<float>(communicator);
    check_collectives<std::int64_t>(communicator);
  });
}

TEST_P(CommunicatorOnGpus, CallsOfTheSameMessageComeAgain) {
  on_gpus(GetParam(), [](Communicator& communicator) {
    GpuArray<double> array(communicator, own<double>(communicator.rank()));
    double factor = 1;
    for (int i = 0; i < 3; ++i, factor *= communicator.ranks()) {
      communicator.all_reduce(array);
      const double due = factor * sum<double>(communicator.ranks())[1];
      check(array.read()[1] == due, fmt::format("the sum of run {}", i));
    }
    check(communicator.ranks() == 1 || communicator.bytes_sent() > 0, "what it has sent");
  });
}

TEST_P(CommunicatorOnGpus, MessagesGoAroundInBothMemories) {
  on_gpus(GetParam(), [](Communicator& communicator) {
    const int n = communicator.ranks();
    if (n == 1) {
      return;
    }
    const Rank next = (communicator.rank() + 1) % n;
    const Rank previous = (communicator.rank() + n - 1) % n;
    std::vector<float> host(kCount);
    GpuArray<float> array(communicator, kCount);
    for (int i = 0; i < 3; ++i) {
      // All send first; only what starts together does not wait for each other crosswise.
      const GpuArray<float> mine(communicator, own<float>(communicator.rank() + i));
      Request sent = communicator.isend(mine, next);
      Request received = communicator.irecv(host, previous);
      communicator.wait(sent);
      communicator.wait(received);
      communicator.wait(received);
      check(host == own<float>(previous + i), "a message from the GPU's memory to the host's");

      Request sent_back = communicator.isend(host, previous);
      Request received_back = communicator.irecv(array, next);
      communicator.wait(received_back);
      communicator.wait(sent_back);
      check(array.read() == own<float>(communicator.rank() + i),
            "a message from the host's memory to the GPU's");
    }
  });
}

TEST(CommunicatorOnTwoGpus, SendsWhatAnotherReceivesLater) {
  on_gpus(2, [](Communicator& communicator) {
    GpuArray<std::int32_t> array(communicator, own<std::int32_t>(communicator.rank()));
    if (communicator.rank() == 0) {
      Request sent = communicator.isend(array, 1);
      communicator.barrier();
      communicator.wait(sent);
    } else {
      communicator.recv(array, 0);  // Before the barrier, which must not hold back what was started.
      communicator.barrier();
    }
    check(array.read() == own<std::int32_t>(0), "the message");
    Request around = communicator.rank() == 0 ? communicator.isend(array, 1) : communicator.irecv(array, 0);
    std::vector<float> other = {1};
    communicator.all_reduce(other);
    communicator.wait(around);
    check(other.front() == 2, "a collective between the start of a message and the wait for it");
  });
}

TEST(CommunicatorOnTwoGpus, LeavesAMessageThatNobodyWaitedForBehind) {
  on_gpus(2, [](Communicator& communicator) {
    GpuArray<float> array(communicator, own<float>(communicator.rank()));
    { const Request forgotten = communicator.irecv(array, 1 - communicator.rank()); }
    communicator.all_reduce(array);
    check(array.read() == sum<float>(2), "what comes behind it");
  });
}

/// Every stream is held back in a way that the seed decides.
class WithASeed : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { ::setenv("RINGSIDE_REHEARSAL", fmt::format("seed={}", GetParam()).c_str(), 1); }
  void TearDown() override { ::unsetenv("RINGSIDE_REHEARSAL"); }
};
INSTANTIATE_TEST_SUITE_P(Seeds, WithASeed, ::testing::Range(1, 7));

TEST_P(WithASeed, CallsWaitForTheStreamThatWritesTheirMessage) {
  on_gpus(2, [](Communicator& communicator) {
    cudaStream_t stream = nullptr;
    check_cuda_call(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const std::vector<float> mine = own<float>(communicator.rank());
    GpuArray<float> array(communicator, kCount);
    GpuArray<float> scratch(communicator, kCount);
    for (int i = 0; i < 5; ++i) {
      for (int k = 0; k < 4; ++k) {  // Work enough to be behind.
        check_cuda_call(cudaMemsetAsync(scratch.data(), k, kCount * sizeof(float), stream));
      }
      check_cuda_call(
          cudaMemcpyAsync(array.data(), mine.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, stream));
      communicator.wait_for_stream(stream);
      if (i % 2 == 0) {
        communicator.all_reduce(array);
        check(array.read() == sum<float>(2), "a sum of what a stream wrote");
      } else {
        check(array.read() == mine, "a copy of what a stream wrote");
        communicator.wait_for_stream(nullptr);
      }
    }
    check_cuda_call(cudaStreamDestroy(stream));
  });
}

TEST(CommunicatorOnTwoGpus, WorksInAThreadThatHasNotTakenTheGpu) {
  on_gpus(2, [](Communicator& communicator) {
    bool right = false;
    std::thread([&] {
      GpuArray<float> array(communicator, own<float>(communicator.rank()));
      communicator.all_reduce(array);
      right = array.read() == sum<float>(2);
    }).join();
    check(right, "the sum of another thread");
  });
}

TEST(CommunicatorOnTwoGpus, ShareOneOfThemWhenTold) {
  ::setenv("RINGSIDE_REHEARSAL", "gpus=1", 1);
  EXPECT_THAT(error_of([] { on_gpus(2, [](Communicator&) {}); }),
              AllOf(HasSubstr("3: "), HasSubstr("2 ranks need 2 GPUs, but this machine has 1")));
  on_gpus(
      2,
      [](Communicator& communicator) {
        GpuArray<float> array(communicator, own<float>(communicator.rank()));
        communicator.all_reduce(array);
        check(array.read() == sum<float>(2), "the sum");
      },
      2);
  ::unsetenv("RINGSIDE_REHEARSAL");
}

TEST(CommunicatorOnTwoGpus, RefusesWhatCannotBe) {
  EXPECT_THAT(error_of([] {
                on_gpus(
                    2, [](Communicator&) {}, 0);
              }),
              HasSubstr("2: a GPU takes at least one rank"));
  on_gpus(2, [](Communicator& communicator) {
    GpuArray<float> array(communicator, kCount);
    std::vector<double> doubles(kCount);
    check(error_of([&] { communicator.copy(array, doubles); }) ==
              "2: 37 float32 elements cannot be copied to 37 float64 elements",
          "a copy of other elements");
    check(error_of([&] { communicator.gather(array, array, communicator.rank(), kNative); }) !=
              "nothing was thrown",
          "a gather of NCCL's own");
    check(error_of([&] { communicator.all_reduce(array, ReduceOp::sum, "rign"); }).starts_with("2: "),
          "an algorithm that does not exist");
    check(error_of([&] { GpuArray<float> huge(communicator, std::int64_t{1} << 30); }).starts_with("3: GPU"),
          "more memory than there is");
    GpuArray<float> none(communicator, 0);
    communicator.all_reduce(none);
    check(none.read().empty(), "no elements");
  });
}

TEST(CommunicatorOnTwoGpus, SaysThatAProcessThatHasUsedCudaCannotStartRanks) {
  EXPECT_EXIT(
      {
        int gpus = 0;
        cudaGetDeviceCount(&gpus);
        const std::string error = error_of([] { on_gpus(2, [](Communicator&) {}); });
        std::fputs(error.c_str(), stderr);
        std::_Exit(error.starts_with("3: ") ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "used CUDA before");
}

TEST(CommunicatorOnTwoGpus, NamesARankThatDied) {
  const auto lose = [](Communicator& communicator) {
    GpuArray<float> array(communicator, kCount);
    communicator.all_reduce(array);
    if (communicator.rank() == 1) {
      ::raise(SIGKILL);
    }
    communicator.all_reduce(array);
  };
  EXPECT_THAT(error_of([&] { on_gpus(2, lose, 1, 5s); }),
              AllOf(HasSubstr("1: "), HasSubstr("rank 1 was killed by signal 9")));
}

TEST(CommunicatorOnTwoGpus, HaveTimeToMeetHoweverShortTheDeadline) {
  // The peer is not there for longer than the deadline.
  ::setenv("RINGSIDE_REHEARSAL_FAULTS", "ncclCommInitRankConfig@1=slow:700", 1);
  on_gpus(
      2, [](Communicator& communicator) { check(communicator.ranks() == 2, "the number of ranks"); }, 1,
      300ms);
  ::unsetenv("RINGSIDE_REHEARSAL_FAULTS");
}

TEST(CommunicatorOnTwoGpus, EndsAWaitForAMessageThatNobodySendsAtTheDeadline) {
  const auto wait = [](Communicator& communicator) {
    GpuArray<float> array(communicator, kCount);
    if (communicator.rank() == 0) {
      communicator.recv(array, 1);
    } else {
      std::this_thread::sleep_for(60s);  // Ended with the other rank.
    }
  };
  EXPECT_THAT(error_of([&] { on_gpus(2, wait, 1, 2s); }),
              HasSubstr("rank 0 waited 2 s for the others while receiving from rank 1"));
}

TEST(CommunicatorOnTwoGpus, BothSendFirstAndHearOfItThoughNcclNeverEndsItsAbort) {
  ::setenv("RINGSIDE_REHEARSAL_FAULTS", "ncclCommAbort=slow:60000", 1);
  const auto deadlock = [](Communicator& communicator) {
    std::array<float, 1> message = {1};
    communicator.send(message, 1 - communicator.rank());
    communicator.recv(message, 1 - communicator.rank());
  };
  EXPECT_THAT(error_of([&] { on_gpus(2, deadlock, 1, 300ms); }),
              HasSubstr("waited 300 ms for the others while sending to rank"));
  ::unsetenv("RINGSIDE_REHEARSAL_FAULTS");
}

TEST(CommunicatorOnTheCpu, RefusesTheMemoryOfAGpu) {
  launch({.ranks = 1, .backend = Backend::threads}, [](Communicator& communicator) {
    EXPECT_FALSE(communicator.gpu());
    std::array<float, 2> values = {1, 2};
    const Elements elements = Elements::on_gpu(values.data(), 2);
    for (const std::string& error : {error_of([&] { communicator.all_reduce(elements); }),
                                     error_of([&] { communicator.all_gather(elements, elements); }),
                                     error_of([&] { communicator.copy(elements, values); }),
                                     error_of([&] { communicator.wait_for_stream(nullptr); }),
                                     error_of([&] { GpuArray<float>(communicator, 1); })}) {
      EXPECT_THAT(error, AllOf(HasSubstr("2: "), HasSubstr("these are on the CPU (threads)")));
    }
    std::array<float, 2> copied{};
    communicator.copy(values, copied);
    EXPECT_EQ(copied, values);
  });
}

}  // namespace
}  // namespace ringside
