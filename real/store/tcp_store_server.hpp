#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "common/file_descriptor.hpp"
#include "real/store/stream.hpp"

namespace ringside {

/// Serves a TCPStore at a port of all addresses for as long as it lives, as PyTorch's rank 0 does.
class TcpStoreServer {
 public:
  /// Throws Error{environment} where the port cannot be had.
  explicit TcpStoreServer(int port);
  /// Those who are connected have a moment to hear what was set last.
  ~TcpStoreServer();
  TcpStoreServer(const TcpStoreServer&) = delete;
  TcpStoreServer& operator=(const TcpStoreServer&) = delete;

 private:
  void serve(StoreStream& client, const std::stop_token& stop);
  void answer(StoreStream& client, const std::stop_token& stop);

  FileDescriptor listener_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, std::string> values_;
  std::list<StoreStream> clients_;
  int num_served_ = 0;
  std::list<std::jthread> threads_;  ///< The first lets in; then one for each client.
};

}  // namespace ringside
