#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "real/store/stream.hpp"

namespace ringside {

/// A rendezvous that is meant, too, where none is said and the environment tells a place.
inline constexpr std::string_view kEnvironmentRendezvous = "env://";

/// Where a TCPStore is, or shall be.
struct TcpStorePlace {
  std::string host;
  int port = 0;
  bool served = false;  ///< By torchrun; otherwise rank 0 serves it.
};

/// "node1:29500 (MASTER_ADDR:MASTER_PORT)"
std::string text_of(const TcpStorePlace& place);

/// From MASTER_ADDR and MASTER_PORT; none where one of them is not set. Throws Error{bad_input} for a port
/// that is none.
std::optional<TcpStorePlace> tcp_store_place();
/// The same for ranks that were told to meet there. Throws Error{bad_input} where it is not set.
TcpStorePlace place_of_environment();

/// A client of a PyTorch TCPStore, for one thread. Every wait ends after the timeout, with Error{peer_lost}.
class TcpStore {
 public:
  /// Tries until somebody answers. Throws Error{environment} when who answers is no TCPStore.
  TcpStore(const TcpStorePlace& place, std::chrono::milliseconds timeout);

  void set(std::string_view key, std::string_view value);
  /// None as long as nobody has set it.
  std::optional<std::string> find(std::string_view key);
  /// Waits until somebody has set it.
  std::string get(std::string_view key);

 private:
  std::string connect(std::chrono::steady_clock::time_point end);
  bool greet();
  /// Sends a request; what went wrong then, or while `answer` is taken, is said with the place.
  void ask(StoreRequest request, const std::string& what, const std::function<void()>& answer);

  TcpStorePlace place_;
  std::chrono::milliseconds timeout_;
  StoreStream stream_;
  int shift_ = 0;  ///< 1 for a server of PyTorch before 2.1.
};

}  // namespace ringside
