#include "tests/gpu/rehearsal/nccl/sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace rehearsal {
namespace {

constexpr int kMoment = 5;  ///< Milliseconds.

/// In the abstract name space, where a name begins with a zero.
socklen_t fill(sockaddr_un& place, const std::string& address) {
  place = {};
  place.sun_family = AF_UNIX;
  const std::size_t size = std::min(address.size(), sizeof(place.sun_path) - 1);
  std::memcpy(place.sun_path + 1, address.data(), size);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
}

bool ready_soon(int socket, short events) {
  pollfd entry = {.fd = socket, .events = events, .revents = 0};
  return ::poll(&entry, 1, kMoment) > 0;
}

std::ptrdiff_t done_or_hung_up(ssize_t done) {
  if (done > 0) {
    return done;
  }
  return done < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

template <typename Byte, typename Some>
bool do_all(int socket, Byte* data, std::size_t bytes, short events, const std::atomic<bool>& aborted,
            const Some& some) {
  while (bytes > 0) {
    const std::ptrdiff_t done = some(socket, data, bytes);
    if (done < 0 || aborted) {
      return false;
    }
    data += done;
    bytes -= static_cast<std::size_t>(done);
    if (done == 0) {
      ready_soon(socket, events);
    }
  }
  return true;
}

}  // namespace

int listen_at_new_address(std::string& address) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  std::random_device random;
  address = "ringside-rehearsal-" + std::to_string(::getpid()) + "-" + std::to_string(random()) +
            std::to_string(random());
  sockaddr_un place{};
  const socklen_t size = fill(place, address);
  if (socket < 0 || ::bind(socket, reinterpret_cast<sockaddr*>(&place), size) != 0 ||
      ::listen(socket, SOMAXCONN) != 0) {
    return -1;
  }
  return socket;
}

int connect_to(const std::string& address) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un place{};
  const socklen_t size = fill(place, address);
  if (socket >= 0 && ::connect(socket, reinterpret_cast<sockaddr*>(&place), size) != 0) {
    ::close(socket);
    return -1;
  }
  return socket;
}

bool readable_soon(int socket) { return ready_soon(socket, POLLIN); }

std::ptrdiff_t write_some(int socket, const void* data, std::size_t bytes) {
  return done_or_hung_up(::send(socket, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL));
}

std::ptrdiff_t read_some(int socket, void* data, std::size_t bytes) {
  return done_or_hung_up(::recv(socket, data, bytes, MSG_DONTWAIT));
}

bool write_all(int socket, const void* data, std::size_t bytes, const std::atomic<bool>& aborted) {
  return do_all(socket, static_cast<const char*>(data), bytes, POLLOUT, aborted, write_some);
}

bool read_all(int socket, void* data, std::size_t bytes, const std::atomic<bool>& aborted) {
  return do_all(socket, static_cast<char*>(data), bytes, POLLIN, aborted, read_some);
}

}  // namespace rehearsal
