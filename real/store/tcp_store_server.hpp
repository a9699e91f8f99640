#pragma once

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/file_descriptor.hpp"

namespace ringside {

/// Serves a TCPStore at a port of all addresses for as long as it lives, as PyTorch's rank 0 does.
class TcpStoreServer {
 public:
  /// Throws Error{environment} where the port cannot be had.
  explicit TcpStoreServer(int port);
  ~TcpStoreServer() { serving_ = {}; }  ///< Asks the thread to stop and waits for it.
  TcpStoreServer(const TcpStoreServer&) = delete;
  TcpStoreServer& operator=(const TcpStoreServer&) = delete;

 private:
  struct Client {
    FileDescriptor connection;
    bool validated = false;
    std::string said = {};                  ///< Of which not all is a whole request yet.
    std::string answers = {};               ///< What it has not taken yet.
    std::vector<std::string> awaited = {};  ///< It says nothing until these keys are set.
  };

  void serve(const std::stop_token& stop);
  bool hear(Client& client);
  bool answer(Client& client);
  bool answer_next(Client& client);

  FileDescriptor listener_;
  std::vector<Client> clients_;
  std::map<std::string, std::string, std::less<>> values_;
  std::jthread serving_;
};

}  // namespace ringside
