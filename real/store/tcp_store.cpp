#include "real/store/tcp_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "real/execute/transport.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenTries{50};
constexpr std::chrono::milliseconds kBetweenLooks{5};
/// A store answers at once. Who says nothing for so long is none.
constexpr std::chrono::milliseconds kAnswersWithin{5'000};

[[noreturn]] void throw_not_met(const TcpStorePlace& place, std::chrono::milliseconds timeout,
                                const std::string& why) {
  throw Error(ErrorKind::peer_lost, fmt::format("the ranks did not meet within {} at {}: {}",
                                                text_of(timeout), text_of(place), why));
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
    throw bad_input(
        "the environment says MASTER_PORT={}, which is no port; "
        "ranks meet at MASTER_ADDR:MASTER_PORT",
        text);
  }
  const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  return TcpStorePlace{
      .host = host, .port = *port, .served = agent != nullptr && std::string_view(agent) == "True"};
}

TcpStorePlace place_of_environment() {
  const std::optional<TcpStorePlace> place = tcp_store_place();
  if (!place) {
    throw bad_input("rendezvous '{}' is where MASTER_ADDR and MASTER_PORT say, and they are not set",
                    kEnvironmentRendezvous);
  }
  return *place;
}

TcpStore::TcpStore(const TcpStorePlace& place, std::chrono::milliseconds timeout)
    : place_(place), timeout_(timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  for (; shift_ < 2; ++shift_) {
    while (true) {
      const std::string why = connect(end);
      if (why.empty()) {
        break;
      }
      if (Clock::now() + kBetweenTries > end) {
        throw_not_met(place_, timeout_, why);
      }
      std::this_thread::sleep_for(kBetweenTries);
    }
    if (greet()) {
      stream_.set_patience(timeout_);
      return;
    }
  }
  throw lacking("what answers at {} is no TCPStore of PyTorch; choose a port that is free", text_of(place_));
}

/// Why not.
std::string TcpStore::connect(Clock::time_point end) {
  addrinfo* first = nullptr;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  if (const int fault =
          ::getaddrinfo(place_.host.c_str(), std::to_string(place_.port).c_str(), &wanted, &first)) {
    return ::gai_strerror(fault);
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(first, ::freeaddrinfo);
  for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
    stream_ = StoreStream(FileDescriptor(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    stream_.set_patience(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()));
    if (::connect(stream_.number(), one->ai_addr, one->ai_addrlen) == 0) {
      const int yes = 1;  // A request often follows one that has no answer.
      ::setsockopt(stream_.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      return "";
    }
  }
  return errno_text();
}

/// Whether a store answers. One of before PyTorch 2.1 closes the connection when it is greeted as those of
/// today: to it that is a key of 10^17 bytes.
bool TcpStore::greet() {
  stream_.set_patience(std::min(timeout_ / 2, kAnswersWithin));
  constexpr int kQuestions = 4;
  std::string greeting;
  if (shift_ == 0) {
    append(greeting, StoreRequest::validate);
    append(greeting, kStoreMagic);
  }
  greeting.append(kQuestions, static_cast<char>(static_cast<int>(StoreRequest::num_keys) - shift_));
  try {
    stream_.send(greeting);
    bool counts = true;
    for (int i = 0; i < kQuestions; ++i) {
      const auto keys = stream_.receive_number<std::int64_t>();
      counts = counts && keys >= 0 && keys < std::numeric_limits<std::int32_t>::max();
    }
    return counts;
  } catch (const Error&) {
    return false;
  }
}

void TcpStore::ask(StoreRequest request, const std::string& what, const std::function<void()>& answer) {
  try {
    stream_.send(static_cast<char>(static_cast<int>(request) - shift_) + what);
    answer();
  } catch (const Error& error) {
    throw_not_met(place_, timeout_, error.what());
  }
}

void TcpStore::set(std::string_view key, std::string_view value) {
  std::string both;
  append_text(both, key);
  append_text(both, value);
  ask(StoreRequest::set, both, [] {});
}

std::optional<std::string> TcpStore::find(std::string_view key) {
  std::string text;
  append_text(text, key);
  std::string one_key;
  append(one_key, std::uint64_t{1});
  std::optional<std::string> value;
  ask(StoreRequest::check, one_key + text, [&] {
    if (stream_.receive_number<StoreHas>() == StoreHas::all) {
      value.emplace();
    }
  });
  if (value) {
    ask(StoreRequest::get, text, [&] { value = stream_.receive_text(); });
  }
  return value;
}

std::string TcpStore::get(std::string_view key) {
  for (const Clock::time_point end = Clock::now() + timeout_; Clock::now() < end;) {
    if (std::optional<std::string> value = find(key)) {
      return *value;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  throw_not_met(place_, timeout_, "some are missing");
}

}  // namespace ringside
