#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/backend/threads/transport.hpp"
#include "real/execute/coordination.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The text of the exception that `function` throws.
template <typename Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const std::exception& exception) {
    return exception.what();
  }
  return "nothing was thrown";
}

TEST(ThreadsTransport, MessagesOfOnePairMatchInOrder) {
  run_as_threads(2, 5s, [](std::unique_ptr<Transport> transport) {
    std::array<std::byte, 3> data{};
    std::vector<std::unique_ptr<Transfer>> transfers;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::span<std::byte> one(&data[i], 1);
      if (transport->rank() == 0) {
        data[i] = static_cast<std::byte>(i + 1);
        transfers.push_back(transport->make_send(1, one));
      } else {
        transfers.push_back(transport->make_receive(0, one));
      }
      transfers.back()->start();
    }
    for (const std::unique_ptr<Transfer>& transfer : transfers) {
      transfer->wait();
    }
    EXPECT_THAT(data, ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}));
  });
}

TEST(ThreadsTransport, LostPeerBecomesAnErrorNotAHang) {
  const std::string message = message_of([] {
    run_as_threads(2, 20ms, [](std::unique_ptr<Transport> transport) {
      if (transport->rank() == 0) {
        std::byte byte{};
        const auto receive = transport->make_receive(1, std::span(&byte, 1));
        receive->start();
        receive->wait();
      } else {
        std::this_thread::sleep_for(500ms);
      }
    });
  });
  EXPECT_EQ(message, "rank 0 waited 20 ms to receive from rank 1");
}

TEST(ThreadsTransport, APeerThatHasEndedIsGoneAndNotLate) {
  std::optional<PeerLost::How> how;
  message_of([&] {
    run_as_threads(2, 10s, [&](std::unique_ptr<Transport> transport) {
      if (transport->rank() == 1) {
        throw std::runtime_error("rank 1 has had enough");
      }
      std::byte byte{};
      const auto receive = transport->make_receive(1, std::span(&byte, 1));
      receive->start();
      try {
        receive->wait();
      } catch (const PeerLost& lost) {
        how = lost.how();
      }
    });
  });
  EXPECT_TRUE(how == PeerLost::How::gone);
}

TEST(ThreadsTransport, AMessageOfAnotherSizeIsAnError) {
  const std::string message = message_of([] {
    run_as_threads(2, 10s, [](std::unique_ptr<Transport> transport) {
      std::array<std::byte, 3> data{};
      const auto transfer = transport->rank() == 0 ? transport->make_send(1, data)
                                                   : transport->make_receive(0, std::span(data).first(2));
      transfer->start();
      transfer->wait();
    });
  });
  EXPECT_EQ(message, "rank 0 sends 3 B to rank 1, which wants to receive 2 B");
}

TEST(ThreadsTransport, TheFirstExceptionIsTheOneThatIsRethrown) {
  const std::string message = message_of([] {
    run_as_threads(3, 10s, [](std::unique_ptr<Transport> transport) {
      if (transport->rank() == 2) {
        throw std::runtime_error("rank 2 has had enough");
      }
      Coordination(*transport).barrier();
    });
  });
  EXPECT_EQ(message, "rank 2 has had enough");
}

TEST(Coordination, GivesAllRanksTheSameMaximaAndValues) {
  for (const int n : {1, 2, 3, 8}) {
    run_as_threads(n, 5s, [n](std::unique_ptr<Transport> transport) {
      Coordination coordination(*transport);
      const double rank = transport->rank();
      const std::array own = {rank, -rank};
      EXPECT_THAT(coordination.maximum(own), ElementsAre(n - 1, 0));
      const std::vector<double> values = coordination.all_values(-2 * rank);
      ASSERT_EQ(values.size(), static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) {
        EXPECT_EQ(values[static_cast<std::size_t>(i)], -2 * i);
      }
    });
  }
}

TEST(Coordination, LeavesNoBarrierBeforeAllHaveCome) {
  constexpr int kRanks = 5;
  std::atomic<int> arrived{0};
  run_as_threads(kRanks, 5s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    for (int round = 1; round <= 100; ++round) {
      ++arrived;
      coordination.barrier();
      EXPECT_GE(arrived, round * kRanks);
      coordination.barrier();
    }
  });
}

}  // namespace
}  // namespace ringside
