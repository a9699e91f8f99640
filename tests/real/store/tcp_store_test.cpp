// Where ranks of torchrun meet: our server, and PyTorch's own where it is installed.

#include "real/store/tcp_store.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/error.hpp"
#include "common/file_descriptor.hpp"
#include "real/store/tcp_store_server.hpp"
#include "tests/real/store/free_port.hpp"
#if RINGSIDE_HAS_TORCH
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// What kind of error, and what it says; none where none is thrown.
template <typename Call>
std::optional<Error> error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

void expect_a_store(int port) {
  const TcpStorePlace place = {.host = "127.0.0.1", .port = port};
  TcpStore one(place, 20s);
  TcpStore other(place, 20s);
  const std::string value("\0a value\n", 9);
  auto waiting = std::async(std::launch::async, [&] { return other.get("key"); });
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
  one.set("key", value);
  EXPECT_EQ(waiting.get(), value);
  one.set("key", std::string(100'000, 'x'));
  EXPECT_EQ(one.get("key"), std::string(100'000, 'x'));
  EXPECT_EQ(other.find("key"), one.find("key"));
  EXPECT_EQ(other.find("no key"), std::nullopt);
  one.set("nothing", "");
  EXPECT_EQ(one.find("nothing"), "");
  TcpStore hasty(place, 200ms);
  const std::optional<Error> late = error_of([&] { hasty.get("never"); });
  ASSERT_TRUE(late);
  EXPECT_EQ(late->kind(), ErrorKind::peer_lost);
  EXPECT_THAT(late->what(), HasSubstr("did not meet within 200 ms at 127.0.0.1:"));
}

TEST(TcpStore, IsServed) {
  const int port = free_port().second;
  const TcpStoreServer server(port);
  expect_a_store(port);
  const std::optional<Error> taken = error_of([&] { const TcpStoreServer second(port); });
  ASSERT_TRUE(taken);
  EXPECT_THAT(taken->what(), HasSubstr("choose a port that is free"));
}

#if RINGSIDE_HAS_TORCH
TEST(TcpStore, IsPytorchs) {
  const c10d::TCPStoreOptions options = {.port = 0, .isServer = true, .waitWorkers = false};
  c10d::TCPStore server("127.0.0.1", options);
  expect_a_store(server.getPort());
  EXPECT_EQ(server.add("still there", 7), 7);
}
#endif

TEST(TcpStore, WhoeverIsNoneIsSaidToBeNone) {
  auto [listener, port] = free_port();
  const TcpStorePlace place = {.host = "127.0.0.1", .port = port};
  const std::optional<Error> silent = error_of([&] { TcpStore store(place, 200ms); });
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->kind(), ErrorKind::environment);
  EXPECT_THAT(silent->what(), HasSubstr("is no TCPStore"));
  listener.close();
  const std::optional<Error> nobody = error_of([&] { TcpStore store(place, 200ms); });
  ASSERT_TRUE(nobody);
  EXPECT_EQ(nobody->kind(), ErrorKind::peer_lost);
  EXPECT_THAT(nobody->what(), HasSubstr("Connection refused"));
}

/// Whether a server is taken for a store that answers the greeting of today with these numbers of keys.
bool passes_for_a_store(const std::vector<std::int64_t>& keys) {
  auto [listener, port] = free_port();
  auto served = std::async(std::launch::async, [&keys, listens = listener.number()] {
    const FileDescriptor client(::accept4(listens, nullptr, nullptr, SOCK_CLOEXEC));
    std::string greeting(9, '\0');  // The magic number of a store, and four questions.
    ::recv(client.number(), greeting.data(), greeting.size(), MSG_WAITALL);
    ::send(client.number(), keys.data(), keys.size() * sizeof(keys[0]), MSG_NOSIGNAL);
    // Whoever is not content tries once more, as with a store of before PyTorch 2.1.
    FileDescriptor(::accept4(listens, nullptr, nullptr, SOCK_CLOEXEC)).close();
    return greeting;
  });
  const TcpStorePlace place = {.host = "127.0.0.1", .port = port};
  const std::optional<Error> error = error_of([&] { TcpStore store(place, 20s); });
  ::shutdown(listener.number(), SHUT_RDWR);
  EXPECT_EQ(served.get(), std::string("\0\xCE\xF7\x85\x3C\7\7\7\7", 9));
  return !error;
}

TEST(TcpStore, AStoreHasANumberOfKeysThatMakesSense) {
  EXPECT_TRUE(passes_for_a_store({0, 1, 2, 0x7FFF'FFFE}));
  EXPECT_FALSE(passes_for_a_store({-1, 0, 0, 0}));
  EXPECT_FALSE(passes_for_a_store({0, 0, 0, -1}));
  EXPECT_FALSE(passes_for_a_store({0, 0x7FFF'FFFF, 0, 0}));
}

TEST(TcpStore, AnAnswerIsAwaitedLongerThanAGreeting) {
  auto [listener, port] = free_port();
  std::future<void> served;
  std::promise<void> over;  // Broken, and so over, where no store is found.
  served = std::async(std::launch::async, [listens = listener.number(), ends = over.get_future()] {
    const FileDescriptor client(::accept4(listens, nullptr, nullptr, SOCK_CLOEXEC));
    const std::vector<std::int64_t> no_keys(4, 0);
    ::send(client.number(), no_keys.data(), no_keys.size() * sizeof(no_keys[0]), MSG_NOSIGNAL);
    ends.wait();  // It says no more.
  });
  TcpStore store({.host = "127.0.0.1", .port = port}, 1s);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(error_of([&] { store.find("key"); }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 950ms);
  over.set_value();
}

TEST(TcpStore, StrangersDoNotStopTheServer) {
  const int port = free_port().second;
  const TcpStoreServer server(port);
  std::vector<FileDescriptor> strangers;
  for (const std::string& words :
       {std::string(), std::string("GET / HTTP/1.0\r\n\r\n"), std::string(4096, '\0'),
        std::string("\0\xCE\xF7\x85\x3C\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 14),
        std::string("\0\xCE\xF7\x85\x3C\x63", 6)}) {
    FileDescriptor& stranger = strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    ASSERT_EQ(::connect(stranger.number(), reinterpret_cast<const sockaddr*>(&place), sizeof(place)), 0);
    ASSERT_EQ(::send(stranger.number(), words.data(), words.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(words.size()));
  }
  expect_a_store(port);
}

/// MASTER_ADDR and MASTER_PORT as long as it lives.
class Environment {
 public:
  explicit Environment(int port) {
    ::setenv("MASTER_ADDR", "127.0.0.1", 1);
    ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
  }
  ~Environment() {
    ::unsetenv("MASTER_ADDR");
    ::unsetenv("MASTER_PORT");
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

TEST(TcpStore, APlaceThatIsNoneIsRefused) {
  for (const std::string port : {"", "x", "0", "-1", "70000", "29500 "}) {
    const Environment environment(1);
    ::setenv("MASTER_PORT", port.c_str(), 1);
    const std::optional<Error> error = error_of([] { static_cast<void>(tcp_store_place()); });
    ASSERT_TRUE(error) << port;
    EXPECT_EQ(error->kind(), ErrorKind::bad_input);
    EXPECT_THAT(error->what(), HasSubstr("MASTER_PORT=" + port + ", which is no port"));
  }
  EXPECT_FALSE(tcp_store_place());
}

}  // namespace
}  // namespace ringside
