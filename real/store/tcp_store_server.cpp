#include "real/store/tcp_store_server.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

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
    throw Error(ErrorKind::environment,
                fmt::format("rank 0 cannot listen at MASTER_PORT={}, where the others come to: {}; choose a "
                            "port that is free on its node",
                            port, errno_text()));
  }
  return listener;
}

}  // namespace

TcpStoreServer::TcpStoreServer(int port) : listener_(listen_at(port)) {
  threads_.emplace_back([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      FileDescriptor guest(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      const std::lock_guard lock(mutex_);
      if (guest.open() && !stop.stop_requested()) {
        StoreStream& client = clients_.emplace_back(std::move(guest));
        ++num_served_;
        try {
          threads_.emplace_back([this, &client](const std::stop_token& end) { serve(client, end); });
        } catch (const std::system_error&) {  // No thread can be had: it is hung up on.
          --num_served_;
          clients_.pop_back();
        }
      }
    }
  });
}

TcpStoreServer::~TcpStoreServer() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLastWord, [this] { return num_served_ == 0; });
    for (std::jthread& thread : threads_) {
      thread.request_stop();
    }
    ::shutdown(listener_.number(), SHUT_RDWR);
    for (const StoreStream& client : clients_) {
      ::shutdown(client.number(), SHUT_RDWR);
    }
  }
  threads_.clear();
}

void TcpStoreServer::serve(StoreStream& client, const std::stop_token& stop) {
  try {
    answer(client, stop);
  } catch (const Error&) {  // It has gone.
  }
  const std::lock_guard lock(mutex_);
  client = StoreStream();
  --num_served_;
  changed_.notify_all();
}

/// Until it speaks no TCPStore's protocol.
void TcpStoreServer::answer(StoreStream& client, const std::stop_token& stop) {
  if (client.receive_number<StoreRequest>() != StoreRequest::validate ||
      client.receive_number<std::uint32_t>() != kStoreMagic) {
    return;
  }
  while (true) {
    std::string said;
    const auto request = client.receive_number<StoreRequest>();
    if (request == StoreRequest::wait) {
      std::vector<std::string> keys;
      for (auto left = client.receive_number<std::uint64_t>(); left > 0; --left) {
        keys.push_back(client.receive_text());
      }
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] {
        return std::all_of(keys.begin(), keys.end(),
                           [this](const std::string& key) { return values_.contains(key); });
      });
      append(said, kStoreReady);
    } else if (request == StoreRequest::num_keys) {
      const std::lock_guard lock(mutex_);
      append(said, static_cast<std::int64_t>(values_.size()));
    } else if (request == StoreRequest::get) {
      const std::string key = client.receive_text();
      const std::lock_guard lock(mutex_);
      append_text(said, values_[key]);
    } else if (request == StoreRequest::set || request == StoreRequest::add) {
      const std::string key = client.receive_text();
      const bool adds = request == StoreRequest::add;
      const std::string value = adds ? "" : client.receive_text();
      const std::int64_t number = adds ? client.receive_number<std::int64_t>() : 0;
      const std::lock_guard lock(mutex_);
      std::string& place = values_[key];
      if (adds) {
        const auto before = static_cast<std::uint64_t>(parse_number<std::int64_t>(place).value_or(0));
        const auto sum = static_cast<std::int64_t>(before + static_cast<std::uint64_t>(number));
        append(said, sum);
        place = std::to_string(sum);
      } else {
        place = value;
      }
      changed_.notify_all();
    } else {
      return;
    }
    client.send(said);
  }
}

}  // namespace ringside
