// How ranks find each other through Gloo while strangers knock.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
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

  RankBackend join(Rank rank, int num_ranks, std::chrono::milliseconds timeout = 60s) const {
    return join_ranks({.backend = Backend::gloo,
                       .rank = rank,
                       .num_ranks = num_ranks,
                       .timeout = timeout,
                       .rendezvous = "file://" + folder_.string(),
                       .group = "meeting",
                       .meeting_timeout = 60s});
  }

  std::filesystem::path folder_;
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

}  // namespace
}  // namespace ringside
