#pragma once

#include <utility>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/file_descriptor.hpp"

namespace ringside {

/// A socket that listens at a port that was free, or, if closed, the number of one.
inline std::pair<FileDescriptor, int> free_port() {
  FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(place);
  EXPECT_EQ(::bind(listener.number(), reinterpret_cast<const sockaddr*>(&place), size), 0);
  EXPECT_EQ(::listen(listener.number(), SOMAXCONN), 0);
  EXPECT_EQ(::getsockname(listener.number(), reinterpret_cast<sockaddr*>(&place), &size), 0);
  return {std::move(listener), ntohs(place.sin_port)};
}

}  // namespace ringside
