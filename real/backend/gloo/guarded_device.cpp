#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/pair.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/file_descriptor.hpp"
#include "real/backend/gloo/parts.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

namespace tcp = ::gloo::transport::tcp;
using Clock = std::chrono::steady_clock;

/// So many of those who have connected and said nothing yet are kept; the one who waits longest goes first.
constexpr std::size_t kMaxGuests = 16;
/// The system keeps those who say nothing to itself for about so many seconds.
constexpr int kSecondsOfSilence = 60;
/// A stranger can be quicker than us between two system calls, but not so many times in a row.
constexpr int kMaxPairs = 100;

[[noreturn]] void throw_errno(const std::string& what) {
  throw ::gloo::IoException(fmt::format("{}: {}", what, errno_text()));
}

int milliseconds_until(Clock::time_point end) {
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(rest.count(), 0, 1'000'000));
}

/// Whoever knows the secret sends it in one piece, as the first that it sends.
bool says(const FileDescriptor& guest, const Secret& secret) {
  Secret said{};
  return ::recv(guest.number(), said.data(), said.size(), MSG_DONTWAIT) ==
             static_cast<ssize_t>(said.size()) &&
         said == secret;
}

/// The next guest of `listener`; none when it was gone again.
FileDescriptor let_in(const FileDescriptor& listener) {
  FileDescriptor guest(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!guest.open() && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
    throw_errno("no connection can be taken");
  }
  return guest;
}

/// The first connection whose other side says the secret, however many strangers come before it.
FileDescriptor wait_for_friend(const FileDescriptor& listener, const Secret& secret, Clock::time_point end) {
  std::vector<FileDescriptor> guests;
  while (true) {
    std::vector<pollfd> watched{{.fd = listener.number(), .events = POLLIN, .revents = 0}};
    for (const FileDescriptor& guest : guests) {
      watched.push_back({.fd = guest.number(), .events = POLLIN, .revents = 0});
    }
    const int ready = ::poll(watched.data(), watched.size(), milliseconds_until(end));
    if (ready < 0 && errno != EINTR) {
      throw_errno("poll");
    }
    if (ready <= 0) {
      if (Clock::now() >= end) {
        throw ::gloo::IoException("it did not connect in time");
      }
      continue;
    }
    std::vector<FileDescriptor> silent;
    for (std::size_t i = 0; i < guests.size(); ++i) {
      if (watched[i + 1].revents == 0) {
        silent.push_back(std::move(guests[i]));
      } else if (says(guests[i], secret)) {
        return std::move(guests[i]);
      }
    }
    guests = std::move(silent);
    if (watched[0].revents != 0) {
      if (FileDescriptor guest = let_in(listener); guest.open()) {
        guests.push_back(std::move(guest));
      }
      if (guests.size() > kMaxGuests) {
        guests.erase(guests.begin());
      }
    }
  }
}

FileDescriptor connect_to(const sockaddr_storage& place, const Secret& secret, Clock::time_point end) {
  FileDescriptor connection(::socket(place.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const socklen_t length = place.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (!connection.open() ||
      (::connect(connection.number(), reinterpret_cast<const sockaddr*>(&place), length) != 0 &&
       errno != EINPROGRESS)) {
    throw_errno("cannot connect");
  }
  pollfd watched{.fd = connection.number(), .events = POLLOUT, .revents = 0};
  int ready = 0;
  while ((ready = ::poll(&watched, 1, milliseconds_until(end))) < 0 && errno == EINTR) {
  }
  int cause = ETIMEDOUT;
  socklen_t size = sizeof(cause);
  if (ready > 0) {
    ::getsockopt(connection.number(), SOL_SOCKET, SO_ERROR, &cause, &size);
  }
  if (cause != 0) {
    errno = cause;
    throw_errno("cannot connect");
  }
  if (::send(connection.number(), secret.data(), secret.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(secret.size())) {
    throw_errno("cannot send");
  }
  return connection;
}

/// What the store of the rendezvous keeps of a pair: where it listens, and what is to be said there.
class GuardedAddress final : public tcp::Address {
 public:
  GuardedAddress(const tcp::Address& place, const Secret& secret) : tcp::Address(place), secret_(secret) {}

  std::vector<char> bytes() const override {
    std::vector<char> bytes = tcp::Address::bytes();
    bytes.insert(bytes.end(), secret_.begin(), secret_.end());
    return bytes;
  }

 private:
  Secret secret_;
};

class GuardedPair final : public tcp::Pair {
 public:
  GuardedPair(tcp::Context* context, tcp::Device* device, int peer, std::chrono::milliseconds timeout)
      : tcp::Pair(context, device, peer, timeout), secret_(make_secret()), address_(self_, secret_) {
    // Gloo's pair already listens to anybody; from here on only `connect` lets in.
    const std::lock_guard lock(m_);
    if (state_ != LISTENING) {
      return;
    }
    device_->unregisterDescriptor(fd_, this);
    listener_ = FileDescriptor(std::exchange(fd_, -1));
    state_ = INITIALIZING;
    // Where one of these is refused, the listener is as it was, which does as well.
    ::fcntl(listener_.number(), F_SETFL, O_NONBLOCK);
    ::setsockopt(listener_.number(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &kSecondsOfSilence,
                 sizeof(kSecondsOfSilence));
    ::listen(listener_.number(), SOMAXCONN);
  }

  /// False where somebody was quicker than the constructor.
  bool guarded() const { return listener_.open(); }

  const tcp::Address& address() const override { return address_; }

  void connect(const std::vector<char>& bytes) override {
    const auto end = Clock::now() + timeout_;
    Secret secret;
    const std::vector<char> place(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(secret.size()));
    std::copy(bytes.end() - static_cast<std::ptrdiff_t>(secret.size()), bytes.end(), secret.begin());
    // Who connects never waits for who listens, so ranks may come in any order.
    FileDescriptor connection = context_->rank < rank_
                                    ? wait_for_friend(listener_, secret_, end)
                                    : connect_to(tcp::Address(place).getSockaddr(), secret, end);
    listener_.close();
    const std::lock_guard lock(m_);
    fd_ = connection.release();
    handleConnected();
  }

 private:
  Secret secret_;
  GuardedAddress address_;
  FileDescriptor listener_;
};

class GuardedContext final : public tcp::Context {
 public:
  using tcp::Context::Context;

  std::unique_ptr<::gloo::transport::Pair>& createPair(int peer) override {
    for (int i = 0; i < kMaxPairs; ++i) {
      auto pair = std::make_unique<GuardedPair>(this, device_.get(), peer, getTimeout());
      if (pair->guarded()) {
        auto& place = pairs_[static_cast<std::size_t>(peer)];
        place = std::move(pair);
        return place;
      }
    }
    throw ::gloo::IoException("strangers connect to every port as soon as it is open");
  }
};

class GuardedDevice final : public tcp::Device {
 public:
  using tcp::Device::Device;

  std::shared_ptr<::gloo::transport::Context> createContext(int rank, int size) override {
    return std::make_shared<GuardedContext>(shared_from_this(), rank, size);
  }
};

}  // namespace

std::shared_ptr<::gloo::transport::Device> make_guarded_device(const tcp::attr& attributes) {
  return std::make_shared<GuardedDevice>(tcp::CreateDeviceAttr(attributes));
}

}  // namespace ringside
