#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/file_descriptor.hpp"

namespace ringside {

/// `--rendezvous env://`, which is also meant where nothing is said and the environment tells a place.
inline constexpr std::string_view kEnvironmentRendezvous = "env://";

/// Where a TCPStore is, or shall be.
struct TcpStorePlace {
  std::string host;
  int port = 0;
  bool served = false;  ///< By torchrun; otherwise rank 0 serves it.
};

/// "node1:29500 (MASTER_ADDR:MASTER_PORT)"
std::string text_of(const TcpStorePlace& place);

/// From MASTER_ADDR and MASTER_PORT; none where one of them is not set. Throws Error{bad_input} for a port that
/// is none.
std::optional<TcpStorePlace> tcp_store_place();

/// A client of a PyTorch TCPStore, for one thread. Every wait ends after the timeout, with Error{peer_lost}.
class TcpStore {
 public:
  /// Tries until somebody answers. Throws Error{environment} when who answers is no TCPStore.
  TcpStore(TcpStorePlace place, std::chrono::milliseconds timeout);

  void set(std::string_view key, std::string_view value);
  /// Waits until somebody has set it.
  std::string get(std::string_view key);
  void wait(std::string_view key);
  /// The sum of all that was added to the key.
  std::int64_t add(std::string_view key, std::int64_t number);

 private:
  void connect(std::chrono::steady_clock::time_point end);
  bool greet();
  void send(const std::string& message);
  std::string receive(std::size_t size);
  template <typename Number>
  Number receive_number();
  [[noreturn]] void throw_stranger() const;
  [[noreturn]] void throw_lost(const std::string& why) const;

  TcpStorePlace place_;
  std::chrono::milliseconds timeout_;
  FileDescriptor connection_;
  std::uint8_t shift_ = 0;  ///< 1 for a server of PyTorch before 2.1.
};

}  // namespace ringside
