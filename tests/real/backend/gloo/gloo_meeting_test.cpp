// How ranks find each other through Gloo while strangers knock, and what they can do then.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.hpp"
#include "common/file_descriptor.hpp"
#include "real/backend/backends.hpp"
#include "real/execute/collective_values.hpp"
#include "real/store/tcp_store_server.hpp"
#include "tests/real/store/free_port.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

class GlooMeeting : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::optional<std::string> reason = registered(Backend::gloo).unavailable()) {
      GTEST_SKIP() << *reason;
    }
    std::string name = (std::filesystem::temp_directory_path() / "ringside-meeting-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  RankBackend join(Rank rank, int num_ranks, std::chrono::milliseconds timeout = 60s,
                   Progress* progress = nullptr) const {
    return join_ranks({.backend = Backend::gloo,
                       .rank = rank,
                       .num_ranks = num_ranks,
                       .timeout = timeout,
                       .rendezvous = rendezvous_.empty() ? where() : rendezvous_,
                       .group = "meeting",
                       .progress = progress,
                       .meeting_timeout = 60s});
  }
  std::vector<RankBackend> joined(int num_ranks, std::chrono::milliseconds timeout,
                                  Progress* progress = nullptr) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    std::vector<std::future<RankBackend>> joining;
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      joining.push_back(std::async(std::launch::async, [=, this] {
        return join(rank, num_ranks, timeout, progress == nullptr ? nullptr : progress + rank);
      }));
    }
    std::vector<RankBackend> ranks;
    for (std::future<RankBackend>& one : joining) {
      ranks.push_back(one.get());
    }
    return ranks;
  }
  std::string where() const { return "file://" + folder_.string(); }

  std::filesystem::path folder_;
  std::string rendezvous_;  ///< Where not in the folder.
};

/// The addresses at which this process listens.
std::vector<sockaddr_in> listeners() {
  std::vector<sockaddr_in> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int number = std::stoi(entry.path().filename().string());
    int listens = 0;
    socklen_t size = sizeof(listens);
    sockaddr_in place{};
    socklen_t length = sizeof(place);
    if (::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
        ::getsockname(number, reinterpret_cast<sockaddr*>(&place), &length) == 0 &&
        place.sin_family == AF_INET) {
      found.push_back(place);
    }
  }
  return found;
}

/// A rank has left in the store where it listens, an address of Gloo's.
bool has_said_where(const std::filesystem::path& folder) {
  std::error_code gone;  // Notes are written elsewhere and renamed.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (const std::uintmax_t size = entry.file_size(gone); !gone && size >= sizeof(sockaddr_storage)) {
      return true;
    }
  }
  return false;
}

/// Somebody who connects and says something, and stays.
FileDescriptor stranger(const sockaddr_in& port, const std::string& words) {
  FileDescriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(connection.number(), reinterpret_cast<const sockaddr*>(&port), sizeof(port)), 0);
  EXPECT_EQ(::send(connection.number(), words.data(), words.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(words.size()));
  return connection;
}

void exchange(RankBackend& sender, RankBackend& receiver) {
  std::array<std::byte, 1000> sent{};
  sent.fill(std::byte{42});
  std::array<std::byte, 1000> received{};
  const auto send = sender.transport->make_send(receiver.transport->rank(), sent);
  const auto receive = receiver.transport->make_receive(sender.transport->rank(), received);
  receive->start();
  send->start();
  send->wait();
  receive->wait();
  EXPECT_EQ(sent, received);
}

TEST_F(GlooMeeting, StrangersWhoComeFirstAreHungUpOn) {
  auto first = std::async(std::launch::async, [this] { return join(0, 2); });
  while (!has_said_where(folder_)) {
    ASSERT_NE(first.wait_for(1ms), std::future_status::ready);
  }
  const std::vector<sockaddr_in> open = listeners();
  ASSERT_EQ(open.size(), 1U);
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 40; ++i) {
    for (const std::string& words :
         {std::string(), std::string("GET"), std::string(32, 'x'), std::string(4096, '\0')}) {
      strangers.push_back(stranger(open[0], words));
    }
  }
  stranger(open[0], "").close();

  RankBackend second = join(1, 2);
  RankBackend met = first.get();
  exchange(met, second);
  exchange(second, met);
  EXPECT_TRUE(listeners().empty()) << "a port is left open";
}

TEST_F(GlooMeeting, ItsOwnCollectivesWaitAsLongAsTransfersAndNotAsAMeeting) {
  auto joining = std::async(std::launch::async, [this] { return join(0, 2, 200ms); });
  RankBackend second = join(1, 2, 200ms);
  RankBackend first = joining.get();
  std::array<std::byte, 4000> message{};
  const auto begin = std::chrono::steady_clock::now();
  const NativeCall call = first.make_native({.num_ranks = 2, .num_elements = 1000}, message);
  EXPECT_THROW(call(), Error) << "the other rank does not take part";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(GlooMeeting, RanksMeetInAnyOrder) {
  constexpr int kRanks = 5;
  std::vector<std::future<RankBackend>> joining;
  for (const Rank rank : {3, 0, 4, 2, 1}) {
    joining.push_back(std::async(std::launch::async, [this, rank] { return join(rank, kRanks); }));
    std::this_thread::sleep_for(
        5ms);  // Most often they come in this order; what is asserted holds in every one.
  }
  std::vector<RankBackend> ranks;
  for (std::future<RankBackend>& one : joining) {
    ranks.push_back(one.get());
  }
  for (RankBackend& sender : ranks) {
    for (RankBackend& receiver : ranks) {
      if (sender.transport->rank() != receiver.transport->rank()) {
        exchange(sender, receiver);
      }
    }
  }
}

TEST_F(GlooMeeting, RanksHaveWhatTheBackendPromisesAndCountWhatTheyGetDone) {
  std::array<Progress, 2> progress;
  std::vector<RankBackend> ranks = joined(2, 60s, progress.data());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ranks[i].backend, Backend::gloo);
    EXPECT_EQ(ranks[i].transport->rank(), static_cast<Rank>(i));
    EXPECT_EQ(ranks[i].transport->num_ranks(), 2);
    EXPECT_EQ(ranks[i].progress, &progress[i]);
    EXPECT_EQ(ranks[i].library_transport, nullptr);
    EXPECT_EQ(progress[i].steps(), 0U);
  }
  exchange(ranks[0], ranks[1]);
  exchange(ranks[1], ranks[0]);
  exchange(ranks[1], ranks[0]);
  EXPECT_EQ(progress[0].steps(), 3U);
  EXPECT_EQ(progress[1].steps(), 3U);
}

TEST_F(GlooMeeting, AStoreOfTheEnvironmentIsAPlaceToMeet) {
  const int port = free_port().second;
  const TcpStoreServer server(port);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
  rendezvous_ = "env://";
  std::vector<RankBackend> ranks = joined(2, 60s);
  exchange(ranks[0], ranks[1]);
  ::unsetenv("MASTER_ADDR");
  ::unsetenv("MASTER_PORT");
}

/// What a rank says instead of meeting a second one, which does not come.
std::pair<ErrorKind, std::string> said(const std::string& rendezvous,
                                       const std::optional<std::string>& interface = {}) {
  try {
    join_ranks({.backend = Backend::gloo,
                .num_ranks = 2,
                .timeout = 50ms,
                .interface = interface,
                .rendezvous = rendezvous,
                .group = "meeting"});
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {ErrorKind::failed, "they have met"};
}

TEST_F(GlooMeeting, WhatIsNoPlaceToMeetIsSaid) {
  for (const std::string place :
       {"tcp://localhost", "file://", "file://folder", "redis://host", "redis://host:port", "env", ""}) {
    const auto [kind, text] = said(place);
    if (text != "this Gloo was built without Redis; use a file:///directory rendezvous") {
      EXPECT_EQ(kind, ErrorKind::bad_input);
      EXPECT_EQ(text, "rendezvous '" + place + "' must be file:///directory, redis://host:port or env://");
    }
  }
  EXPECT_EQ(said("file:///proc/none/of/it"),
            std::pair(ErrorKind::environment,
                      std::string("the rendezvous directory /proc/none/of/it cannot be made: "
                                  "No such file or directory")));
#ifndef __SANITIZE_ADDRESS__  // Gloo's RedisStore leaks its connection where nobody answers.
  const auto [no_server, why] = said("redis://127.0.0.1:1");
  EXPECT_EQ(no_server, ErrorKind::environment);
  EXPECT_TRUE(why.starts_with("no Redis server answers at 127.0.0.1:1: ") ||
              why == "this Gloo was built without Redis; use a file:///directory rendezvous")
      << why;
#endif
  const auto [kind, text] = said(where(), "eth-none");
  EXPECT_EQ(kind, ErrorKind::environment);
  const std::string begin = "this machine has no network interface 'eth-none' with an address; it has: ";
  ASSERT_TRUE(text.starts_with(begin)) << text;
  const std::string names = ", " + text.substr(begin.size()) + ",";
  ASSERT_NE(names.find(", lo,"), std::string::npos) << text;
  EXPECT_EQ(names.find(", lo,"), names.rfind(", lo,")) << "once, whatever addresses it has: " << text;
}

TEST_F(GlooMeeting, WhoComesAloneSaysHowLongItWaited) {
  const auto [kind, text] = said(where(), "lo");
  EXPECT_EQ(kind, ErrorKind::peer_lost);
  const std::string begin = "rank 0 did not meet the other 1 ranks within 50 ms at " + where() + ": ";
  ASSERT_TRUE(text.starts_with(begin)) << text;
  EXPECT_GT(text.size(), begin.size()) << "Gloo says why";
}

/// The text of what is thrown when a rank has lost another one, and how.
std::string lost_by(RankBackend& rank, bool sends, PeerLost::How how) {
  std::vector<std::byte> bytes(1 << 20);
  const Rank other = 1 - rank.transport->rank();
  try {
    const auto transfer =
        sends ? rank.transport->make_send(other, bytes) : rank.transport->make_receive(other, bytes);
    transfer->start();
    transfer->wait();
  } catch (const PeerLost& lost) {
    EXPECT_EQ(lost.peer(), other);
    EXPECT_EQ(lost.how(), how);
    return lost.what();
  }
  return "nobody is lost";
}

TEST_F(GlooMeeting, APeerThatIsLateOrGoneIsNamed) {
  std::vector<RankBackend> slow = joined(2, 100ms);
  EXPECT_EQ(lost_by(slow[0], false, PeerLost::How::late), "rank 0 waited 100 ms to receive from rank 1");
  slow = joined(2, 100ms);
  EXPECT_EQ(lost_by(slow[1], true, PeerLost::How::late), "rank 1 waited 100 ms to send to rank 0");
  std::vector<RankBackend> ranks = joined(2, 60s);
  ranks.pop_back();
  const std::string text = lost_by(ranks[0], false, PeerLost::How::gone);
  const std::string begin = "rank 0 lost rank 1: ";
  ASSERT_TRUE(text.starts_with(begin)) << text;
  EXPECT_NE(text[begin.size()], '[') << text;
  std::vector<std::byte> message(4000);
  try {
    ranks[0].make_native({.num_ranks = 2, .num_elements = 1000}, message)();
    FAIL() << "its peer is gone";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::peer_lost);
    EXPECT_EQ(std::string(error.what()).rfind("rank 0 lost a peer in Gloo's own all_reduce: ", 0), 0U)
        << error.what();
  }
}

TEST_F(GlooMeeting, ItsOwnCollectivesAreExact) {
  constexpr int kRanks = 3;
  std::vector<RankBackend> ranks = joined(kRanks, 60s);
  const auto check = [&](CollectiveCall call) {
    for (Rank rank = 0; rank < kRanks; ++rank) {
      const std::int64_t begin = call.num_elements * rank / kRanks;
      call.parts.push_back({.first = begin, .count = call.num_elements * (rank + 1) / kRanks - begin});
    }
    const CollectiveValues values(call, 7);
    std::vector<std::future<void>> running;
    for (Rank rank = 0; rank < kRanks; ++rank) {
      running.push_back(std::async(std::launch::async, [&, rank] {
        std::vector<std::byte> message(static_cast<std::size_t>(call.num_elements) * size_of(call.dtype));
        const NativeCall native = ranks[static_cast<std::size_t>(rank)].make_native(call, message);
        for (int turn = 0; turn < 2; ++turn) {
          values.write_input(rank, message);
          native();
          EXPECT_EQ(values.first_wrong(rank, message), std::nullopt)
              << name(call.collective) << ' ' << name(call.op) << ' ' << name(call.dtype) << ", "
              << call.num_elements << " elements, rank " << rank;
        }
      }));
    }
    for (auto& one : running) {
      one.get();
    }
  };
  for (const DataType dtype : {DataType::float32, DataType::float64, DataType::int32, DataType::int64}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg}) {
      for (const Collective collective : {Collective::all_reduce, Collective::reduce}) {
        check({.collective = collective,
               .num_ranks = kRanks,
               .root = 1,
               .dtype = dtype,
               .op = op,
               .num_elements = 1000});
      }
    }
    for (const std::int64_t count : {0, 3, 999, 1000}) {
      check(
          {.collective = Collective::all_gather, .num_ranks = kRanks, .dtype = dtype, .num_elements = count});
      check({.collective = Collective::broadcast,
             .num_ranks = kRanks,
             .root = 2,
             .dtype = dtype,
             .num_elements = count});
    }
    check({.collective = Collective::gather,
           .num_ranks = kRanks,
           .root = 1,
           .dtype = dtype,
           .num_elements = 999});
  }
}

}  // namespace
}  // namespace ringside
