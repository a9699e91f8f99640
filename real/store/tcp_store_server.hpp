#pragma once

#include <map>
#include <string>
#include <thread>

#include "common/file_descriptor.hpp"
#include "real/store/stream.hpp"

namespace ringside {

/// Serves a TCPStore at a port of all addresses for as long as it lives, as PyTorch's rank 0 does. Then those
/// who are connected have a moment to hear what was set last.
class TcpStoreServer {
 public:
  /// Throws Error{environment} where the port cannot be had.
  explicit TcpStoreServer(int port);

 private:
  void serve(const std::stop_token& stop);
  /// One request; whether more may come.
  bool answer(StoreStream& client);

  FileDescriptor listener_;
  std::map<std::string, std::string> values_;
  std::jthread thread_;  // Last, so that it starts when all else is there.
};

}  // namespace ringside
