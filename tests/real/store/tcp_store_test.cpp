// Where ranks of torchrun meet: our server, and PyTorch's own where it is installed.

#include "real/store/tcp_store.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

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
using ::testing::ThrowsMessage;

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

/// Both ends of a connection.
std::pair<StoreStream, FileDescriptor> connection() {
  int ends[2] = {};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {StoreStream(FileDescriptor(ends[0])), FileDescriptor(ends[1])};
}

TEST(StoreStream, WaitsAsLongAsItsPatienceForReadingAndWriting) {
  const auto patience = [](StoreStream& stream, int option) {
    timeval time{};
    socklen_t size = sizeof(time);
    ::getsockopt(stream.number(), SOL_SOCKET, option, &time, &size);
    return static_cast<double>(time.tv_sec) * 1000.0 + static_cast<double>(time.tv_usec) / 1000.0;
  };
  auto [stream, other] = connection();
  for (const std::chrono::milliseconds time : {0ms, 1ms, 999ms, 1000ms, 2345ms, 60'000ms}) {
    stream.set_patience(time);
    const double due = std::max(1.0, static_cast<double>(time.count()));
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
      EXPECT_GE(patience(stream, option), due);
      EXPECT_LE(patience(stream, option), due + 11) << "the kernel counts in ticks";
    }
  }
}

TEST(StoreStream, SaysWhyNothingMoreComes) {
  const auto says = [](const char* text) { return ThrowsMessage<Error>(std::string(text)); };
  auto [stream, other] = connection();
  StoreStream& one = stream;
  one.set_patience(1ms);
  EXPECT_THAT([&] { one.receive(1); }, says("it did not answer"));
  const auto announce = [to = other.number()](std::uint64_t size) {
    EXPECT_EQ(::send(to, &size, sizeof(size), MSG_NOSIGNAL), static_cast<ssize_t>(sizeof(size)));
  };
  announce((1U << 24U) + 1);
  EXPECT_THAT([&] { one.receive_text(); }, says("it speaks another protocol"));
  announce(1U << 24U);
  EXPECT_THAT([&] { one.receive_text(); }, says("it did not answer")) << "the longest text";
  announce(2);
  ::send(other.number(), "ab", 2, MSG_NOSIGNAL);
  EXPECT_EQ(stream.receive_text(), "ab");
  EXPECT_THAT([&] { one.send(std::string(8 << 20, 'x')); }, says("it did not answer"));
  other.close();
  EXPECT_THROW(stream.send("x"), Error);
  auto [left, gone] = connection();
  gone.close();
  StoreStream& alone = left;
  EXPECT_THAT([&] { alone.receive(1); }, says("the connection was closed"));
}

/// A store of before PyTorch 2.1: it knows no greeting, and its requests are less by one.
TEST(TcpStore, OfBeforePytorch21IsAskedInItsOwnWords) {
  auto [listener, port] = free_port();
  auto served = std::async(std::launch::async, [listens = listener.number()] {
    FileDescriptor(::accept4(listens, nullptr, nullptr, SOCK_CLOEXEC)).close();
    const FileDescriptor client(::accept4(listens, nullptr, nullptr, SOCK_CLOEXEC));
    std::string said(4, '\0');
    ::recv(client.number(), said.data(), said.size(), MSG_WAITALL);
    const std::vector<std::int64_t> no_keys(4, 0);
    ::send(client.number(), no_keys.data(), no_keys.size() * sizeof(no_keys[0]), MSG_NOSIGNAL);
    std::string request(1 + 8 + 3 + 8 + 5, '\0');
    ::recv(client.number(), request.data(), request.size(), MSG_WAITALL);
    return said + request;
  });
  TcpStore store({.host = "127.0.0.1", .port = port}, 20s);
  store.set("key", "value");
  EXPECT_EQ(served.get(), std::string("\6\6\6\6\0\3\0\0\0\0\0\0\0key\5\0\0\0\0\0\0\0value", 29));
}

TEST(TcpStore, IsFoundWhenItComesLater) {
  auto [listener, port] = free_port();
  listener.close();
  auto store = std::async(std::launch::async, [port = port] {
    TcpStore late({.host = "127.0.0.1", .port = port}, 20s);
    return late.find("key");
  });
  std::this_thread::sleep_for(20ms);  // So that it has asked in vain.
  const TcpStoreServer server(port);
  EXPECT_EQ(store.get(), std::nullopt);
}

TEST(TcpStore, WhoStaysIsServedWhoeverElseLeaves) {
  const int port = free_port().second;
  const TcpStorePlace place = {.host = "127.0.0.1", .port = port};
  const TcpStoreServer server(port);
  std::vector<std::unique_ptr<TcpStore>> stores;
  for (int i = 0; i < 5; ++i) {
    stores.push_back(std::make_unique<TcpStore>(place, 20s));
    stores.back()->set("key", std::to_string(i));
  }
  for (const std::size_t leaves : {1U, 3U, 0U}) {
    stores[leaves].reset();
    stores[4]->set("left " + std::to_string(leaves), "yes");
    for (const std::unique_ptr<TcpStore>& store : stores) {
      if (store) {
        EXPECT_EQ(store->get("left " + std::to_string(leaves)), "yes");
      }
    }
  }
}

TEST(TcpStore, WhoIsConnectedHearsTheLastWord) {
  const int port = free_port().second;
  auto server = std::make_unique<TcpStoreServer>(port);
  auto store = std::make_unique<TcpStore>(TcpStorePlace{.host = "127.0.0.1", .port = port}, 20s);
  store->set("key", "value");
  auto ended = std::async(std::launch::async, [&] { server.reset(); });
  EXPECT_EQ(ended.wait_for(60ms), std::future_status::timeout);
  EXPECT_EQ(store->find("key"), "value");
  store.reset();
  ended.get();
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
  for (const std::string port : {"", "x", "0", "-1", "65536", "70000", "29500 "}) {
    const Environment environment(1);
    ::setenv("MASTER_PORT", port.c_str(), 1);
    const std::optional<Error> error = error_of([] { static_cast<void>(tcp_store_place()); });
    ASSERT_TRUE(error) << port;
    EXPECT_EQ(error->kind(), ErrorKind::bad_input);
    EXPECT_EQ(error->what(), "the environment says MASTER_PORT=" + port +
                                 ", which is no port; ranks meet at MASTER_ADDR:MASTER_PORT");
  }
  EXPECT_FALSE(tcp_store_place());
  EXPECT_THAT([] { static_cast<void>(place_of_environment()); },
              ThrowsMessage<Error>("rendezvous 'env://' is where MASTER_ADDR and MASTER_PORT say, and they "
                                   "are not set"));
}

TEST(TcpStore, APlaceIsThatOfTheEnvironment) {
  for (const int port : {1, 29500, 65535}) {
    const Environment environment(port);
    EXPECT_EQ(text_of(place_of_environment()),
              "127.0.0.1:" + std::to_string(port) + " (MASTER_ADDR:MASTER_PORT)");
    EXPECT_FALSE(place_of_environment().served);
    for (const std::string agent : {"True", "False"}) {
      ::setenv("TORCHELASTIC_USE_AGENT_STORE", agent.c_str(), 1);
      EXPECT_EQ(place_of_environment().served, agent == "True");
    }
    ::unsetenv("TORCHELASTIC_USE_AGENT_STORE");
    ::setenv("MASTER_ADDR", "", 1);
    EXPECT_FALSE(tcp_store_place());
    ::unsetenv("MASTER_ADDR");
    EXPECT_FALSE(tcp_store_place());
    ::setenv("MASTER_ADDR", "127.0.0.1", 1);
    ::unsetenv("MASTER_PORT");
    EXPECT_FALSE(tcp_store_place());
  }
}

}  // namespace
}  // namespace ringside
