// What the mpi backend makes of MPI's answers, with a library that answers as it is told.
// tests/cli/launchers/mpi_test.py runs a real one.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/backend/mpi/parts.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Rank 1 of some.
class FakeMpi : public MpiLibrary {
 public:
  int num_ranks_found = 3;
  int error = 0;

  std::string version() override { return "Fake MPI 1.0"; }
  std::optional<bool> cuda_aware() override { return std::nullopt; }
  std::string text_of(int code) override { return "error " + std::to_string(code); }
  int init() override { return 0; }
  bool active() override { return true; }
  void end(int /*status*/) override {}
  Rank rank() override { return 1; }
  int num_ranks() override { return num_ranks_found; }
  std::function<int()> collective(const CollectiveCall& /*call*/, std::span<std::byte> /*message*/) override {
    return {};
  }

 protected:
  ~FakeMpi() = default;
};

/// Its requests are never over unless it is told so.
class ToldMpi final : public FakeMpi {
 public:
  int tests_until_finished = -1;
  int forgotten = 0;

  int start(MpiSide /*side*/, Rank /*peer*/, MpiTag /*tag*/, std::span<std::byte> /*memory*/,
            Request& /*request*/) override {
    return 0;
  }
  int test(Request& /*request*/, bool& finished) override {
    finished = tests_until_finished >= 0 && tests_until_finished-- == 0;
    tests_until_finished = finished ? 0 : tests_until_finished;
    return error;
  }
  void forget(Request& /*request*/) override { ++forgotten; }
};

/// Its messages end when it is told so.
class RecordedMpi final : public FakeMpi {
 public:
  struct Message {
    MpiSide side;
    Rank peer;
    MpiTag tag;
    std::size_t bytes;
    bool finished = false;
  };
  std::vector<Message> started = {};

  /// Ends what is under way with this tag.
  void finish(MpiTag tag) {
    for (Message& message : started) {
      message.finished = message.finished || message.tag == tag;
    }
  }
  std::size_t under_way(MpiTag tag) const {
    return static_cast<std::size_t>(
        std::count_if(started.begin(), started.end(),
                      [tag](const Message& message) { return message.tag == tag && !message.finished; }));
  }

  int start(MpiSide side, Rank peer, MpiTag tag, std::span<std::byte> memory, Request& request) override {
    const auto number = static_cast<std::uint32_t>(started.size());
    std::memcpy(request.room.data(), &number, sizeof(number));
    started.push_back({.side = side, .peer = peer, .tag = tag, .bytes = memory.size()});
    return 0;
  }
  int test(Request& request, bool& finished) override {
    std::uint32_t number = 0;
    std::memcpy(&number, request.room.data(), sizeof(number));
    finished = started[number].finished;
    return 0;
  }
  void forget(Request& /*request*/) override {}
};

/// One of two ranks whose messages arrive as soon as both sides have started them.
class ConnectedMpi final : public FakeMpi {
 public:
  explicit ConnectedMpi(Rank own) : own_(own) {}
  void connect(ConnectedMpi& other) { other_ = &other; }
  int forgotten = 0;

  Rank rank() override { return own_; }
  int start(MpiSide side, Rank peer, MpiTag tag, std::span<std::byte> memory, Request& request) override {
    EXPECT_EQ(peer, 1 - own_);
    const std::size_t number = posted_.size();
    std::memcpy(request.room.data(), &number, sizeof(number));
    posted_.push_back({.side = side, .tag = tag, .memory = memory});
    for (Posted& theirs : other_->posted_) {
      if (!theirs.finished && theirs.tag == tag && theirs.side != side) {
        Posted& ours = posted_.back();
        const Posted& from = side == MpiSide::send ? ours : theirs;
        const Posted& to = side == MpiSide::send ? theirs : ours;
        EXPECT_EQ(from.memory.size(), to.memory.size());
        std::ranges::copy(from.memory, to.memory.begin());
        ours.finished = theirs.finished = true;
        break;
      }
    }
    return 0;
  }
  int test(Request& request, bool& finished) override {
    std::size_t number = 0;
    std::memcpy(&number, request.room.data(), sizeof(number));
    finished = posted_[number].finished;
    return 0;
  }
  void forget(Request& /*request*/) override { ++forgotten; }

 private:
  struct Posted {
    MpiSide side;
    MpiTag tag;
    std::span<std::byte> memory;
    bool finished = false;
  };

  Rank own_;
  ConnectedMpi* other_ = nullptr;
  std::vector<Posted> posted_;
};

/// Moves what can be moved; whether that is all of it.
bool comes_to_its_end(Transfer& transfer) {
  try {
    transfer.wait();
  } catch (const PeerLost&) {
    return false;
  }
  return true;
}

PeerLost lost_peer(Transfer& transfer) {
  try {
    transfer.start();
    transfer.wait();
  } catch (const PeerLost& lost) {
    return lost;
  }
  ADD_FAILURE() << "nobody was lost";
  return {0, PeerLost::How::gone, ""};
}

TEST(MpiTransport, ADeadlineNamesThePeer) {
  ToldMpi library;
  const auto transport = make_mpi_transport(library, {}, 10ms, nullptr);
  EXPECT_EQ(transport->num_ranks(), 3);
  std::array<std::byte, 8> memory{};
  {
    const auto receive = transport->make_receive(2, memory);
    const PeerLost lost = lost_peer(*receive);
    EXPECT_EQ(lost.peer(), 2);
    EXPECT_EQ(lost.how(), PeerLost::How::late);
    EXPECT_STREQ(lost.what(), "rank 1 waited 10 ms to receive from rank 2");
    EXPECT_EQ(library.forgotten, 0);
  }
  EXPECT_EQ(library.forgotten, 1) << "the memory may be gone when the message comes";
  EXPECT_STREQ(lost_peer(*transport->make_send(0, memory)).what(), "rank 1 waited 10 ms to send to rank 0");
}

TEST(MpiTransport, AnErrorOfMpiNamesThePeer) {
  ToldMpi library;
  library.error = 7;
  std::array<std::byte, 8> memory{};
  const auto transport = make_mpi_transport(library, {}, 10s, nullptr);
  const PeerLost lost = lost_peer(*transport->make_send(2, memory));
  EXPECT_EQ(lost.how(), PeerLost::How::gone);
  EXPECT_STREQ(lost.what(), "rank 1 lost rank 2: error 7");
}

TEST(MpiTransport, AMessageThatHasComeIsProgress) {
  ToldMpi library;
  library.tests_until_finished = 100;
  std::array<std::byte, 8> memory{};
  Progress progress;
  const auto transport = make_mpi_transport(library, {}, 10s, &progress);
  const auto receive = transport->make_receive(0, memory);
  receive->start();
  receive->wait();
  EXPECT_EQ(progress.steps(), 1U);
}

TEST(MpiTransport, ALongMessageToAnotherMachineWaitsForItsReceiverAndGoesInPieces) {
  RecordedMpi library;
  const auto transport = make_mpi_transport(library, {true, false, false}, 10ms, nullptr);
  std::vector<std::byte> memory(1 << 20);
  const auto first = transport->make_send(0, memory);
  const auto second = transport->make_send(0, memory);
  first->start();
  second->start();
  EXPECT_FALSE(comes_to_its_end(*second));
  EXPECT_EQ(library.under_way(MpiTag::ready), 2U);
  EXPECT_EQ(library.under_way(MpiTag::piece), 0U) << "nobody is ready";
  library.finish(MpiTag::ready);
  EXPECT_FALSE(comes_to_its_end(*second));
  EXPECT_EQ(library.under_way(MpiTag::piece), 8U) << "of the first: the second comes after it";
  while (!comes_to_its_end(*second)) {
    EXPECT_LE(library.under_way(MpiTag::piece), 16U);
    library.finish(MpiTag::piece);
  }
  first->wait();
  std::size_t bytes = 0;
  for (const RecordedMpi::Message& message : library.started) {
    bytes += message.bytes;
    EXPECT_LE(message.bytes, 60U << 10) << "with a header it still fits into what needs no answer";
  }
  EXPECT_EQ(bytes, 2 * memory.size());
}

TEST(MpiTransport, AReceiverSaysThatItIsReadyWhenItsReceivesWait) {
  RecordedMpi library;
  const auto transport = make_mpi_transport(library, {true, false, false}, 10ms, nullptr);
  std::vector<std::byte> memory(100'000);
  const auto receive = transport->make_receive(0, memory);
  receive->start();
  ASSERT_EQ(library.started.size(), 3U);
  EXPECT_EQ(library.started[1].tag, MpiTag::piece);
  EXPECT_EQ(library.started[0].bytes + library.started[1].bytes, memory.size());
  EXPECT_EQ(library.started[2].tag, MpiTag::ready);
  EXPECT_EQ(library.started[2].side, MpiSide::send);
  library.finish(MpiTag::piece);
  EXPECT_FALSE(comes_to_its_end(*receive));
  library.finish(MpiTag::ready);
  receive->wait();
}

TEST(MpiTransport, MessagesOnOneMachineAndShortOnesAreWhole) {
  RecordedMpi library;
  const auto transport = make_mpi_transport(library, {true, false, false}, 10ms, nullptr);
  std::vector<std::byte> memory(1 << 20);
  transport->make_send(2, memory)->start();
  transport->make_send(0, std::span(memory).first(60 << 10))->start();
  ASSERT_EQ(library.started.size(), 2U);
  EXPECT_EQ(library.started[0].tag, MpiTag::whole);
  EXPECT_EQ(library.started[1].tag, MpiTag::whole);
}

TEST(MpiTransport, MessagesOfEveryLengthArriveInOrderHoweverTheyTravelAndAreWaitedFor) {
  constexpr std::size_t kPiece = 60 << 10;
  ConnectedMpi zero(0);
  ConnectedMpi one(1);
  zero.connect(one);
  one.connect(zero);
  Progress progress;
  const auto sender = make_mpi_transport(zero, {false, true}, 20ms, &progress);
  const auto receiver = make_mpi_transport(one, {true, false}, 20ms, nullptr);
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  std::vector<std::unique_ptr<Transfer>> sends;
  std::vector<std::unique_ptr<Transfer>> receives;
  for (const std::size_t bytes : {kPiece * 20 + 3, std::size_t{1}, kPiece, kPiece + 1, 2 * kPiece,
                                  2 * kPiece + 1, 9 * kPiece, kPiece - 1}) {
    sent.emplace_back(bytes);
    received.emplace_back(bytes);
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sends.push_back(sender->make_send(1, sent[i]));
    receives.push_back(receiver->make_receive(0, received[i]));
  }
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
      for (std::size_t byte = 0; byte < sent[i].size(); ++byte) {
        sent[i][byte] =
            static_cast<std::byte>(byte / 255 + byte + 31 * i + 7 * static_cast<std::size_t>(turn));
      }
      receives[i]->start();
    }
    for (const auto& send : sends) {
      send->start();
    }
    for (std::size_t i = sends.size(); i-- > 0;) {
      sends[i]->wait();
    }
    for (const auto& receive : receives) {
      receive->wait();
    }
    EXPECT_EQ(received, sent);
  }
  EXPECT_EQ(progress.steps(), 2 * sends.size());
  sends.clear();
  receives.clear();
  EXPECT_EQ(zero.forgotten + one.forgotten, 0) << "nothing is under way";
}

TEST(MpiTransport, WhatIsUnderWayIsGivenUpAndNothingElse) {
  ConnectedMpi zero(0);
  ConnectedMpi one(1);
  zero.connect(one);
  one.connect(zero);
  const auto sender = make_mpi_transport(zero, {false, true}, 1ms, nullptr);
  const auto receiver = make_mpi_transport(one, {true, false}, 1ms, nullptr);
  std::vector<std::byte> memory(10 * 60 << 10);
  const auto forgotten = [](ConnectedMpi& rank, std::unique_ptr<Transfer> transfer) {
    const int before = rank.forgotten;
    transfer.reset();
    return rank.forgotten - before;
  };
  EXPECT_EQ(forgotten(zero, sender->make_send(1, memory)), 0) << "never started";
  auto send = sender->make_send(1, memory);
  send->start();
  EXPECT_EQ(forgotten(zero, std::move(send)), 1) << "nobody is ready";
  auto receive = receiver->make_receive(0, memory);
  receive->start();
  EXPECT_EQ(forgotten(one, std::move(receive)), 11) << "ten pieces, and the word that it is ready";
  auto whole = receiver->make_receive(0, std::span(memory).first(100));
  whole->start();
  EXPECT_EQ(forgotten(one, std::move(whole)), 1);
}

TEST(MpiPreflight, RanksThatCanWorkTogetherHaveNoFault) {
  ToldMpi library;
  EXPECT_EQ(launch_fault(3, library), std::nullopt);
}

TEST(MpiPreflight, RanksThatWereStartedAloneAreTold) {
  ToldMpi library;
  library.num_ranks_found = 1;
  EXPECT_THAT(
      launch_fault(8, library).value_or(""),
      HasSubstr("asked 8, found 8 times 1: each rank was started alone; with srun use --mpi=pmix, otherwise "
                "the mpirun of Fake MPI 1.0"));
  EXPECT_EQ(launch_fault(1, library), std::nullopt);
}

TEST(MpiPreflight, AnotherNumberOfRanksIsAFault) {
  ToldMpi library;
  EXPECT_THAT(launch_fault(4, library).value_or(""), HasSubstr("started 4 ranks, and MPI_COMM_WORLD has 3"));
}

TEST(MpiDeadlineDeathTest, ACallThatNobodyCanInterruptEndsTheProcess) {
  EXPECT_EXIT(
      {
        MpiDeadline deadline(3, 20ms);
        deadline.within("MPI_Init", [] {
          std::this_thread::sleep_for(60s);
          return 0;
        });
      },
      testing::ExitedWithCode(1), "ringside: rank 3 waited 20 ms in MPI_Init for the other ranks");
}

TEST(MpiDeadline, ACallInTimeReturnsItsResult) {
  MpiDeadline deadline(0, 30ms);
  EXPECT_EQ(deadline.within("MPI_Barrier", [] { return 5; }), 5);
  std::this_thread::sleep_for(100ms);  // Nothing is waited for between calls.
}

}  // namespace
}  // namespace ringside
