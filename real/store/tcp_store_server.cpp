#include "real/store/tcp_store_server.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/failures.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{20};
/// All wait for one that begins a request and does not end it.
constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::seconds kLastWord{1};

FileDescriptor listen_at(int port) {
  // IPv4 comes, too. Where the kernel has no IPv6, it comes alone.
  FileDescriptor listener(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 place{};  // Any address; IPv4 has its port at the same place.
  place.sin6_family = listener.open() ? AF_INET6 : AF_INET;
  place.sin6_port = htons(static_cast<std::uint16_t>(port));
  if (!listener.open()) {
    listener = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  const int yes = 1;
  const int no = 0;
  ::setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  ::setsockopt(listener.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  if (::bind(listener.number(), reinterpret_cast<const sockaddr*>(&place), sizeof(place)) != 0 ||
      ::listen(listener.number(), SOMAXCONN) != 0) {
    throw lacking(
        "rank 0 cannot listen at MASTER_PORT={}, where the others come to: {}; choose a "
        "port that is free on its node",
        port, errno_text());
  }
  return listener;
}

}  // namespace

TcpStoreServer::TcpStoreServer(int port)
    : listener_(listen_at(port)), thread_([this](const std::stop_token& stop) { serve(stop); }) {}

void TcpStoreServer::serve(const std::stop_token& stop) {
  std::vector<StoreStream> clients;
  std::optional<Clock::time_point> end;
  while (!end || (!clients.empty() && Clock::now() < *end)) {
    std::vector<pollfd> sockets = {{.fd = listener_.number(), .events = POLLIN, .revents = 0}};
    for (const StoreStream& client : clients) {
      sockets.push_back({.fd = client.number(), .events = POLLIN, .revents = 0});
    }
    ::poll(sockets.data(), sockets.size(), static_cast<int>(kLook.count()));
    for (std::size_t i = clients.size(); i-- > 0;) {
      if (sockets[i + 1].revents != 0 && !answer(clients[i])) {
        clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (sockets[0].revents != 0) {
      FileDescriptor guest(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (guest.open()) {
        clients.emplace_back(std::move(guest)).set_patience(kPatience);
      }
    }
    if (stop.stop_requested() && !end) {
      end = Clock::now() + kLastWord;
    }
  }
}

bool TcpStoreServer::answer(StoreStream& client) {
  try {
    std::string said;
    const auto request = client.receive_number<StoreRequest>();
    if (request == StoreRequest::validate) {
      return client.receive_number<std::uint32_t>() == kStoreMagic;
    }
    if (request == StoreRequest::set) {
      const std::string key = client.receive_text();
      values_[key] = client.receive_text();
    } else if (request == StoreRequest::get) {
      append_text(said, values_[client.receive_text()]);
    } else if (request == StoreRequest::check) {
      bool all = true;
      for (auto left = client.receive_number<std::uint64_t>(); left > 0; --left) {
        all = values_.contains(client.receive_text()) && all;
      }
      append(said, all ? StoreHas::all : StoreHas::not_all);
    } else if (request == StoreRequest::num_keys) {
      append(said, static_cast<std::int64_t>(values_.size()));
    } else {
      return false;
    }
    client.send(said);
    return true;
  } catch (const Error&) {  // It has gone, or speaks another protocol.
    return false;
  }
}

}  // namespace ringside
