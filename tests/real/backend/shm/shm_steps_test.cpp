// Each step of a message through shared memory, seen from both sides.

#include <initializer_list>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "tests/real/backend/shm/in_one_process.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

std::string whom_lost(const std::function<void()>& wait, PeerLost::How how) {
  try {
    wait();
  } catch (const PeerLost& error) {
    EXPECT_EQ(error.how(), how);
    return fmt::format("{}: {}", error.peer(), error.what());
  }
  return "nobody is lost";
}

/// Two ranks and what is between them.
class ShmSteps : public ::testing::Test {
 protected:
  Transport& end(std::size_t rank) { return *ends_[rank].reading; }
  /// What rank 0 sends to rank 1, as rank 1 sees it.
  Announcement& announced(std::size_t message) { return groups_[1]->channel(0, 1).announcements[message]; }
  void expect_states(const std::vector<std::uint64_t>& states) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      EXPECT_EQ(announced(i).state.load(), states[i]) << "announcement " << i;
    }
  }
  std::unique_ptr<Transfer> started(std::unique_ptr<Transfer> transfer) {
    transfer->start();
    return transfer;
  }
  std::unique_ptr<Transfer> sent(std::span<const std::byte> bytes) {
    return started(end(0).make_send(1, bytes));
  }
  void expect_received(const OwnBytes& due) {
    OwnBytes bytes(due.size());
    started(end(1).make_receive(0, bytes))->wait();
    EXPECT_EQ(bytes, due);
  }

  std::array<Progress, 2> progress_;
  ShmGroups groups_ = met(2);
  std::array<ShmTransports, 2> ends_ = {make_shm_transports(groups_[0], &progress_[0]),
                                        make_shm_transports(groups_[1], &progress_[1])};
};

TEST_F(ShmSteps, TheLengthOfAMessageSaysHowItTravels) {
  if (!groups_[0]->reads_remotely()) {
    GTEST_SKIP() << "no memory of processes can be read here";
  }
  const struct {
    std::size_t bytes;
    MessageKind kind;
  } table[] = {{0, MessageKind::inlined},      {1, MessageKind::inlined},       {32, MessageKind::inlined},
               {33, MessageKind::buffered},    {16'384, MessageKind::buffered}, {16'385, MessageKind::remote},
               {600'000, MessageKind::remote}, {33, MessageKind::buffered}};
  std::size_t message = 0;
  for (const auto& row : table) {
    const OwnBytes out = numbered(row.bytes, static_cast<unsigned>(message));
    OwnBytes in(row.bytes);
    const bool sleeps = message % 2 == 0;
    std::array<std::uint32_t, 2> doorbells{};
    for (const Rank rank : {0, 1}) {
      groups_[0]->header(rank).asleep = sleeps ? 1 : 0;
      doorbells[static_cast<std::size_t>(rank)] = groups_[0]->header(rank).doorbell + (sleeps ? 1 : 0);
    }
    EXPECT_EQ(end(0).leaves_at_once(out), row.bytes <= 16'384) << row.bytes;
    const auto send = end(0).make_send(1, out);
    const auto receive = end(1).make_receive(0, in);
    EXPECT_EQ(announced(message).state.load(), 0U);
    send->start();
    EXPECT_EQ(announced(message).state.load(), 2 * message + 1);
    EXPECT_EQ(announced(message).kind, row.kind) << row.bytes;
    EXPECT_EQ(announced(message).bytes, row.bytes);
    EXPECT_EQ(announced(message).place, row.kind == MessageKind::remote
                                            ? reinterpret_cast<std::uint64_t>(out.data())
                                            : std::uint64_t{0});
    EXPECT_EQ(groups_[1]->header(1).asleep.load(), 0U);
    EXPECT_EQ(groups_[1]->header(1).doorbell.load(), doorbells[1]) << "rung where it slept";
    receive->start();
    receive->wait();
    EXPECT_EQ(in, out) << row.bytes;
    EXPECT_EQ(announced(message).state.load(), 2 * message + 2);
    EXPECT_EQ(groups_[0]->header(0).asleep.load(), 0U);
    EXPECT_EQ(groups_[0]->header(0).doorbell.load(), doorbells[0]);
    send->wait();
    ++message;
    EXPECT_EQ(progress_[0].steps(), message);
    EXPECT_EQ(progress_[1].steps(), message);
  }
}

TEST_F(ShmSteps, WhatIsReducedIsReducedOnceByEveryWayThatAMessageTravels) {
  for (const bool shared : {false, true}) {
    for (const bool writes : {false, true}) {
      for (const std::size_t count :
           std::initializer_list<std::size_t>{1, 8, 9, 4096, 4097, 8192, 32'768, 65'537}) {
        if (writes && (!shared || count <= 4096)) {
          continue;  // Only what lies in shared memory is written.
        }
        const std::size_t size = count * sizeof(std::int32_t);
        const OwnMemory out = shared ? end(0).allocate(static_cast<std::int64_t>(size))
                                     : OwnMemory(static_cast<std::int64_t>(size));
        auto* const sent = reinterpret_cast<std::int32_t*>(out.bytes().data());
        std::vector<std::int32_t> target(count);
        for (std::size_t i = 0; i < count; ++i) {
          sent[i] = static_cast<std::int32_t>(i % 1000);
          target[i] = static_cast<std::int32_t>(i / 1000 * 1000);
        }
        const auto send = started((writes ? *ends_[0].writing : end(0)).make_send(1, out.bytes()));
        Transport& to = writes ? *ends_[1].writing : end(1);
        EXPECT_EQ(to.rank(), 1);
        EXPECT_EQ(to.num_ranks(), 2);
        started(to.make_reducing_receive(
                    0, {.target = std::as_writable_bytes(std::span(target)), .dtype = DataType::int32}))
            ->wait();
        send->wait();
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(target[i], static_cast<std::int32_t>(i)) << count << (shared ? " shared" : "");
          ASSERT_EQ(sent[i], static_cast<std::int32_t>(writes ? i : i % 1000)) << count;
        }
      }
    }
  }
}

TEST_F(ShmSteps, MoreThanAChannelHoldsWaitsInOrder) {
  std::vector<OwnBytes> data;
  std::vector<std::unique_ptr<Transfer>> sends;
  for (unsigned i = 0; i < 19; ++i) {
    data.push_back(numbered(4, i));
  }
  for (std::size_t i = 0; i < 18; ++i) {
    sends.push_back(sent(data[i]));
  }
  expect_states({1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31});
  expect_received(data[0]);
  sends.push_back(sent(data[18]));
  expect_states({2, 3});  // There is room, but not for who comes later.
  sends[17].reset();      // Nobody waits for it any more.
  sends[16]->wait();
  expect_states({33, 3});
  for (std::size_t i = 1; i < 17; ++i) {
    expect_received(data[i]);
  }
  sends[18]->wait();
  expect_states({34, 35, 6});
  expect_received(data[18]);
  const auto last = sent(data[0]);
  expect_states({34, 36, 37});
}

TEST_F(ShmSteps, MoreBufferedMessagesThanBuffersWaitForTheFirstThatIsFree) {
  std::vector<OwnBytes> data;
  std::vector<std::unique_ptr<Transfer>> sends;
  std::vector<OwnBytes> arrived(9, OwnBytes(16'384));
  std::vector<std::unique_ptr<Transfer>> receives;
  for (unsigned i = 0; i < 9; ++i) {
    data.push_back(numbered(16'384, i));
  }
  for (std::size_t i = 0; i < 9; ++i) {
    sends.push_back(sent(data[i]));
    receives.push_back(started(end(1).make_receive(0, arrived[i])));
  }
  expect_states({1, 3, 5, 7, 9, 11, 13, 15, 0});
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(announced(i).place, i);
  }
  receives[3]->wait();
  sends[8]->wait();
  expect_states({1, 3, 5, 8, 9, 11, 13, 15, 17});
  EXPECT_EQ(announced(8).place, 3U);
  for (const auto& receive : receives) {
    receive->wait();
  }
  EXPECT_EQ(arrived, data);
}

TEST_F(ShmSteps, AWaitTakesWhatElseHasComeButReducesNothing) {
  if (!groups_[0]->reads_remotely()) {
    GTEST_SKIP() << "no memory of processes can be read here";
  }
  const OwnBytes large = numbered(100'000, 1);
  OwnBytes large_in(large.size());
  const auto receive = started(end(0).make_receive(1, large_in));
  const auto send = started(end(1).make_send(0, large));
  receive->wait();
  const OwnBytes small = numbered(8, 2);
  std::array<OwnBytes, 4> in = {OwnBytes(8), OwnBytes(8), OwnBytes(8), OwnBytes(8)};
  const auto reduces = started(end(1).make_reducing_receive(0, {.target = in[0], .dtype = DataType::int64}));
  started(end(1).make_receive(0, in[1])).reset();  // Given up: nothing is written to its memory any more.
  const auto copies = started(end(1).make_receive(0, in[2]));
  const auto comes_late = started(end(1).make_receive(0, in[3]));
  for (int i = 0; i < 3; ++i) {
    sent(small);
  }
  send->wait();  // It is taken already, and looks around once.
  expect_states({1, 3, 6, 0});
  EXPECT_EQ(in, (std::array{OwnBytes(8), OwnBytes(8), small, OwnBytes(8)}));
  copies->wait();
  reduces->wait();
  expect_states({2, 3, 6, 0});
  EXPECT_EQ(in, (std::array{small, OwnBytes(8), small, OwnBytes(8)}));
  sent(numbered(9, 1));
  try {
    comes_late->wait();
    FAIL() << "another length";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_STREQ(error.what(), "rank 0 sends 9 B to rank 1, which wants to receive 8 B");
  }
}

TEST_F(ShmSteps, WhatCameBeforeItsSenderWentIsReceived) {
  sent(numbered(4, 5));
  groups_[0]->header(1).asleep = 1;
  const std::uint32_t doorbell = groups_[1]->header(1).doorbell;
  ends_[0] = {};
  groups_[0].reset();
  EXPECT_EQ(groups_[1]->header(0).left.load(), 1U);
  EXPECT_EQ(groups_[1]->header(1).doorbell.load(), doorbell + 1);
  expect_received(numbered(4, 5));
  OwnBytes bytes(4);
  const auto receive = started(end(1).make_receive(0, bytes));
  EXPECT_EQ(whom_lost([&] { receive->wait(); }, PeerLost::How::gone), "0: rank 1 lost rank 0");
}

TEST(ShmWaits, EndAtTheTimeoutWithThePeer) {
  const ShmGroups groups = met(2, 10ms);
  const ShmTransports zero = make_shm_transports(groups[0], nullptr);
  OwnBytes bytes(20'000);
  const auto receive = zero.reading->make_receive(1, bytes);
  receive->start();
  EXPECT_EQ(whom_lost([&] { receive->wait(); }, PeerLost::How::late),
            "1: rank 0 waited 10 ms to receive from rank 1");
  if (groups[0]->reads_remotely()) {
    const auto send = zero.reading->make_send(1, bytes);
    send->start();
    EXPECT_EQ(whom_lost([&] { send->wait(); }, PeerLost::How::late),
              "1: rank 0 waited 10 ms to send to rank 1");
  }
}

TEST(ShmWaits, MemoryThatCannotBeReadAnyMoreIsThatOfALostPeer) {
  const ShmGroups groups = met(2);
  if (!groups[0]->reads_remotely()) {
    GTEST_SKIP() << "no memory of processes can be read here";
  }
  OwnBytes bytes(8);
  EXPECT_EQ(whom_lost([&] { groups[0]->read_remotely(1, 0, bytes); }, PeerLost::How::gone),
            "1: rank 0 lost rank 1: its memory cannot be read any more (Bad address)");
}

TEST(ShmCopies, StandForMessagesThatOthersMayNotReadUntilTheyAreTaken) {
  without_remote_reads([] {
    const ShmGroups groups = met(2);
    ASSERT_FALSE(groups[0]->reads_remotely());
    const ShmTransports zero = make_shm_transports(groups[0], nullptr);
    const ShmTransports one = make_shm_transports(groups[1], nullptr);
    const auto announced = [&](std::size_t i) -> Announcement& {
      return groups[1]->channel(0, 1).announcements[i];
    };
    const auto expect_received = [&](const OwnBytes& due) {
      OwnBytes in(due.size());
      const auto receive = one.reading->make_receive(0, in);
      receive->start();
      receive->wait();
      EXPECT_EQ(in, due);
    };
    const OwnBytes old = numbered(16'385, 1);
    const OwnBytes next = numbered(16'385, 2);
    OwnBytes out = old;
    EXPECT_TRUE(zero.reading->leaves_at_once(out));
    auto send = zero.reading->make_send(1, out);
    send->start();
    send->wait();
    EXPECT_EQ(announced(0).kind, MessageKind::shared);
    out = next;
    send->start();
    EXPECT_EQ(announced(1).state.load(), 0U) << "the copy is still to be read";
    expect_received(old);
    send->wait();
    EXPECT_EQ(announced(1).state.load(), 3U);
    const std::uint64_t first = announced(0).place;
    EXPECT_EQ(announced(1).place, first);
    send.reset();
    auto other = zero.reading->make_send(1, out);
    other->start();
    const std::uint64_t second = announced(2).place;
    EXPECT_NE(second, first) << "it is not taken yet";
    expect_received(next);
    expect_received(next);
    other.reset();
    zero.reading->make_send(1, out).reset();  // Never started: its copy is free at once.
    const auto third = zero.reading->make_send(1, out);
    const auto fourth = zero.reading->make_send(1, out);
    third->start();
    fourth->start();
    EXPECT_EQ((std::set{announced(3).place, announced(4).place}), (std::set{first, second}));
    const OwnMemory lies = zero.reading->allocate(20'000);
    EXPECT_FALSE(zero.reading->leaves_at_once(lies.bytes()));
  });
}

TEST(ShmThreads, ReadEachOthersMessagesWhereTheyLieWhateverTheSystemAllows) {
  const auto check = [] {
    const ShmGroups groups = ShmGroup::of_threads(2, 20s);
    EXPECT_TRUE(groups[0]->of_one_process());
    EXPECT_TRUE(groups[0]->reads_remotely());
    const ShmTransports zero = make_shm_transports(groups[0], nullptr);
    const ShmTransports one = make_shm_transports(groups[1], nullptr);
    for (const std::size_t size : std::initializer_list<std::size_t>{0, 8, 20'000, 300'000}) {
      const OwnBytes out = numbered(size, 3);
      EXPECT_FALSE(zero.reading->leaves_at_once(out));
      for (const bool reduces : {false, true}) {
        OwnBytes in(size);
        const auto send = zero.reading->make_send(1, out);
        const auto receive =
            reduces ? one.reading->make_reducing_receive(0, {.target = in, .dtype = DataType::int32})
                    : one.reading->make_receive(0, in);
        send->start();
        receive->start();
        receive->wait();
        send->wait();
        EXPECT_EQ(in, out) << size;
      }
    }
  };
  check();
  without_remote_reads(check);
}

}  // namespace
}  // namespace ringside
