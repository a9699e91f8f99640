#include "real/store/stream.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>
#include <sys/time.h>

#include "common/error.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

/// A value is an address for each rank at most; who announces more is no rank.
constexpr std::uint64_t kLongestText = 1U << 24U;

/// `step` sends or receives from a place on, until `size` bytes are through.
template <typename Step>
void go_through(std::size_t size, const Step& step) {
  for (std::size_t place = 0; place < size;) {
    const ssize_t done = step(place);
    if (done == 0) {
      throw Error(ErrorKind::peer_lost, "the connection was closed");
    }
    if (done < 0 && errno != EINTR) {
      throw Error(ErrorKind::peer_lost, errno == EAGAIN ? "it did not answer" : errno_text());
    }
    place += static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
}

}  // namespace

void append_text(std::string& message, std::string_view text) {
  append(message, static_cast<std::uint64_t>(text.size()));
  message += text;
}

void StoreStream::set_patience(std::chrono::milliseconds time) {
  const auto least = std::max(time, std::chrono::milliseconds(1));
  const timeval patience = {.tv_sec = least.count() / 1000, .tv_usec = least.count() % 1000 * 1000};
  ::setsockopt(number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

void StoreStream::send(const std::string& message) {
  go_through(message.size(), [&](std::size_t place) {
    return ::send(number(), message.data() + place, message.size() - place, MSG_NOSIGNAL);
  });
}

std::string StoreStream::receive(std::size_t size) {
  std::string bytes(size, '\0');
  go_through(size,
             [&](std::size_t place) { return ::recv(number(), bytes.data() + place, size - place, 0); });
  return bytes;
}

std::string StoreStream::receive_text() {
  const auto size = receive_number<std::uint64_t>();
  if (size > kLongestText) {
    throw Error(ErrorKind::peer_lost, "it speaks another protocol");
  }
  return receive(size);
}

}  // namespace ringside
