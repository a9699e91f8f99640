#include "real/store/tcp_store_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "real/store/wire.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using namespace tcp_store;

using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 20;
/// For so long those who are still connected hear what was said last.
constexpr std::chrono::seconds kLastWord{1};
/// A request is an address for each rank at most. Who says more without an end is no rank.
constexpr std::size_t kLongestRequest = 1U << 24U;

/// Takes a request apart, as far as it is there.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  template <typename Number>
  Number number() {
    Number number{};
    const std::string_view bytes = take(sizeof(number));
    std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  }
  std::string text() { return std::string(take(number<std::uint64_t>())); }
  std::string_view rest() const { return rest_; }
  bool whole() const { return whole_; }

 private:
  std::string_view take(std::uint64_t size) {
    whole_ = whole_ && size <= rest_.size();
    const std::string_view taken = whole_ ? rest_.substr(0, size) : std::string_view();
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  bool whole_ = true;
};

FileDescriptor listen_at(int port) {
  // IPv4 addresses are heard, too. Where the kernel has no IPv6, these alone.
  FileDescriptor listener(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool six = listener.open();
  if (!six) {
    listener = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  }
  const int yes = 1;
  const int no = 0;
  ::setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  ::setsockopt(listener.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  const std::uint16_t number = htons(static_cast<std::uint16_t>(port));
  sockaddr_in6 place6{};  // Of all addresses.
  place6.sin6_family = AF_INET6;
  place6.sin6_port = number;
  sockaddr_in place4{};
  place4.sin_family = AF_INET;
  place4.sin_port = number;
  const auto* place =
      six ? reinterpret_cast<const sockaddr*>(&place6) : reinterpret_cast<const sockaddr*>(&place4);
  if (::bind(listener.number(), place, six ? sizeof(place6) : sizeof(place4)) != 0 ||
      ::listen(listener.number(), SOMAXCONN) != 0) {
    throw Error(ErrorKind::environment,
                fmt::format("rank 0 cannot listen at MASTER_PORT={}, where the others come to: {}; choose a "
                            "port that is free on its node",
                            port, errno_text()));
  }
  return listener;
}

}  // namespace

TcpStoreServer::TcpStoreServer(int port)
    : listener_(listen_at(port)), serving_([this](const std::stop_token& stop) { serve(stop); }) {}

void TcpStoreServer::serve(const std::stop_token& stop) {
  std::optional<Clock::time_point> end;
  while (!end || (!clients_.empty() && Clock::now() < *end)) {
    if (!end && stop.stop_requested()) {
      end = Clock::now() + kLastWord;
    }
    std::vector<pollfd> watched{{.fd = listener_.number(), .events = POLLIN, .revents = 0}};
    for (const Client& client : clients_) {
      const auto events = static_cast<short>(client.answers.empty() ? POLLIN : POLLIN | POLLOUT);
      watched.push_back({.fd = client.connection.number(), .events = events, .revents = 0});
    }
    if (::poll(watched.data(), watched.size(), kPollMilliseconds) <= 0) {
      continue;
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (watched[i + 1].revents != 0 && !hear(clients_[i])) {
        clients_[i].connection.close();
      }
    }
    // What one has set another may wait for.
    for (Client& client : clients_) {
      if (client.connection.open() && !answer(client)) {
        client.connection.close();
      }
    }
    std::erase_if(clients_, [](const Client& client) { return !client.connection.open(); });
    if (watched[0].revents != 0) {
      if (FileDescriptor guest(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC)); guest.open()) {
        clients_.push_back({.connection = std::move(guest)});
      }
    }
  }
}

bool TcpStoreServer::hear(Client& client) {
  std::array<char, 1U << 16U> bytes;
  const ssize_t size = ::recv(client.connection.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size > 0) {
    client.said.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return size > 0 ? client.said.size() < kLongestRequest : size < 0 && (errno == EAGAIN || errno == EINTR);
}

bool TcpStoreServer::answer(Client& client) {
  while (true) {
    const bool waits = !client.awaited.empty();
    if (waits && !std::all_of(client.awaited.begin(), client.awaited.end(),
                              [&](const std::string& key) { return values_.contains(key); })) {
      break;
    }
    if (waits) {
      client.awaited.clear();
      put(client.answers, kReady);
    }
    const std::size_t before = client.said.size();
    if (!answer_next(client)) {
      return false;
    }
    if (client.said.size() == before) {
      break;
    }
  }
  if (client.answers.empty()) {
    return true;
  }
  const ssize_t sent = ::send(client.connection.number(), client.answers.data(), client.answers.size(),
                              MSG_DONTWAIT | MSG_NOSIGNAL);
  client.answers.erase(0, static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  return sent >= 0 || errno == EAGAIN || errno == EINTR;
}

/// Answers the first request if it is whole. False for what is none.
bool TcpStoreServer::answer_next(Client& client) {
  Reader reader(client.said);
  const auto request = reader.number<Request>();
  if (!reader.whole()) {
    return true;
  }
  if (client.validated == (request == Request::validate)) {
    return false;
  }
  std::string answer;
  if (request == Request::validate) {
    client.validated = reader.number<std::uint32_t>() == kMagic;
    if (reader.whole() && !client.validated) {
      return false;
    }
    client.validated = reader.whole();
  } else if (request == Request::set) {
    const std::string key = reader.text();
    const std::string value = reader.text();
    if (reader.whole()) {
      values_[key] = value;
    }
  } else if (request == Request::get) {
    const auto value = values_.find(reader.text());
    if (reader.whole() && value == values_.end()) {
      return false;
    }
    put_text(answer, reader.whole() ? value->second : "");
  } else if (request == Request::add) {
    const std::string key = reader.text();
    const auto number = reader.number<std::int64_t>();
    if (reader.whole()) {
      std::string& value = values_[key];
      const auto sum = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(parse_number<std::int64_t>(value).value_or(0)) +
          static_cast<std::uint64_t>(number));
      value = std::to_string(sum);
      put(answer, sum);
    }
  } else if (request == Request::wait) {
    std::vector<std::string> keys;
    for (auto left = reader.number<std::uint64_t>(); left > 0 && reader.whole(); --left) {
      keys.push_back(reader.text());
    }
    if (reader.whole()) {
      client.awaited = std::move(keys);
    }
  } else if (request == Request::num_keys) {
    put(answer, static_cast<std::int64_t>(values_.size()));
  } else {
    return false;
  }
  if (reader.whole()) {
    client.answers += answer;
    client.said.erase(0, client.said.size() - reader.rest().size());
  }
  return true;
}

}  // namespace ringside
