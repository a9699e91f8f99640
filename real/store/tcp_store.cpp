#include "real/store/tcp_store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "real/execute/transport.hpp"
#include "real/store/wire.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using namespace tcp_store;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenTries{50};
/// A store answers at once. Who says nothing for so long is none.
constexpr std::chrono::milliseconds kAnswersWithin{5'000};
/// No value of ours is longer by far, so who announces more is no store.
constexpr std::uint64_t kLongestValue = 1U << 28U;

/// What receive and send wait for; connect, too.
void set_patience(const FileDescriptor& connection, std::chrono::milliseconds time) {
  const auto least = std::max(time, std::chrono::milliseconds(1));
  const timeval patience = {.tv_sec = least.count() / 1000, .tv_usec = least.count() % 1000 * 1000};
  ::setsockopt(connection.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(connection.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/// Nothing more came: a timeout, or the other side has closed.
std::string reason_of_silence(ssize_t done) {
  if (done == 0) {
    return "it closed the connection";
  }
  return errno == EAGAIN ? "it did not answer" : errno_text();
}

}  // namespace

std::string text_of(const TcpStorePlace& place) {
  return fmt::format("{}:{} (MASTER_ADDR:MASTER_PORT)", place.host, place.port);
}

std::optional<TcpStorePlace> tcp_store_place() {
  const char* host = std::getenv("MASTER_ADDR");
  const char* text = std::getenv("MASTER_PORT");
  if (host == nullptr || *host == '\0' || text == nullptr) {
    return std::nullopt;
  }
  const std::optional<int> port = parse_number<int>(text);
  if (!port || *port < 1 || *port > std::numeric_limits<std::uint16_t>::max()) {
    throw Error(ErrorKind::bad_input, fmt::format("the environment says MASTER_PORT={}, which is no port; "
                                                  "ranks meet at MASTER_ADDR:MASTER_PORT",
                                                  text));
  }
  const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  return TcpStorePlace{
      .host = host, .port = *port, .served = agent != nullptr && std::string_view(agent) == "True"};
}

TcpStore::TcpStore(TcpStorePlace place, std::chrono::milliseconds timeout)
    : place_(std::move(place)), timeout_(timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  connect(end);
  if (!greet()) {
    shift_ = 1;
    connect(end);
    if (!greet()) {
      throw_stranger();
    }
  }
  set_patience(connection_, timeout_);
}

void TcpStore::connect(Clock::time_point end) {
  while (true) {
    addrinfo* first = nullptr;
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    const int fault =
        ::getaddrinfo(place_.host.c_str(), std::to_string(place_.port).c_str(), &wanted, &first);
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(first, ::freeaddrinfo);
    std::string why = fault != 0 ? ::gai_strerror(fault) : "";
    for (const addrinfo* one = fault == 0 ? first : nullptr; one != nullptr; one = one->ai_next) {
      connection_ = FileDescriptor(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      set_patience(connection_, std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()));
      if (::connect(connection_.number(), one->ai_addr, one->ai_addrlen) == 0) {
        const int yes = 1;
        ::setsockopt(connection_.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        return;
      }
      why = errno_text();
    }
    if (Clock::now() + kBetweenTries > end) {
      throw_lost(why);
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

/// False where the server closes the connection: one of before PyTorch 2.1 does so with the greeting of today,
/// which to it is a key of 10^17 bytes.
bool TcpStore::greet() {
  constexpr int kQuestions = 4;
  set_patience(connection_, std::min(timeout_, kAnswersWithin));
  std::string greeting;
  if (shift_ == 0) {
    put(greeting, Request::validate);
    put(greeting, kMagic);
  }
  greeting.append(kQuestions, static_cast<char>(static_cast<int>(Request::num_keys) - shift_));
  std::array<std::int64_t, kQuestions> answers{};
  if (::send(connection_.number(), greeting.data(), greeting.size(), MSG_NOSIGNAL) < 0) {
    return false;
  }
  const ssize_t done = ::recv(connection_.number(), answers.data(), sizeof(answers), MSG_WAITALL);
  if (done == 0 || (done < 0 && errno == ECONNRESET)) {
    return false;
  }
  const auto counts_keys = [](std::int64_t answer) {
    return answer >= 0 && answer < std::numeric_limits<std::int32_t>::max();
  };
  if (done != sizeof(answers) || !std::all_of(answers.begin(), answers.end(), counts_keys)) {
    throw_stranger();
  }
  return true;
}

void TcpStore::send(const std::string& message) {
  std::string shifted = message;
  shifted[0] = static_cast<char>(shifted[0] - shift_);
  for (std::size_t sent = 0; sent < shifted.size();) {
    const ssize_t done =
        ::send(connection_.number(), shifted.data() + sent, shifted.size() - sent, MSG_NOSIGNAL);
    if (done <= 0 && errno != EINTR) {
      throw_lost(reason_of_silence(done));
    }
    sent += static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
}

std::string TcpStore::receive(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t received = 0; received < size;) {
    const ssize_t done = ::recv(connection_.number(), bytes.data() + received, size - received, MSG_WAITALL);
    if (done == 0 || (done < 0 && errno != EINTR)) {
      throw_lost(reason_of_silence(done));
    }
    received += static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
  return bytes;
}

template <typename Number>
Number TcpStore::receive_number() {
  Number number{};
  std::memcpy(&number, receive(sizeof(number)).data(), sizeof(number));
  return number;
}

void TcpStore::set(std::string_view key, std::string_view value) {
  std::string message;
  put(message, Request::set);
  put_text(message, key);
  put_text(message, value);
  send(message);
}

void TcpStore::wait(std::string_view key) {
  std::string message;
  put(message, Request::wait);
  put(message, std::uint64_t{1});
  put_text(message, key);
  send(message);
  if (receive_number<std::uint8_t>() != kReady) {
    throw_lost("it ended a wait");
  }
}

std::string TcpStore::get(std::string_view key) {
  wait(key);
  std::string message;
  put(message, Request::get);
  put_text(message, key);
  send(message);
  const auto size = receive_number<std::uint64_t>();
  if (size > kLongestValue) {
    throw_lost("it speaks no protocol of a TCPStore");
  }
  return receive(size);
}

std::int64_t TcpStore::add(std::string_view key, std::int64_t number) {
  std::string message;
  put(message, Request::add);
  put_text(message, key);
  put(message, number);
  send(message);
  return receive_number<std::int64_t>();
}

void TcpStore::throw_stranger() const {
  throw Error(ErrorKind::environment,
              fmt::format("what answers at {} is no TCPStore of PyTorch; choose a port that is free",
                          text_of(place_)));
}

void TcpStore::throw_lost(const std::string& why) const {
  throw Error(ErrorKind::peer_lost, fmt::format("the ranks did not meet within {} at {}: {}",
                                                text_of(timeout_), text_of(place_), why));
}

}  // namespace ringside
