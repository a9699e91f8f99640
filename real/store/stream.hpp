#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "common/file_descriptor.hpp"

namespace ringside {

/// What a TCPStore is asked, since PyTorch 2.1; before, there was no `validate`, and all others were less by
/// one.
enum class StoreRequest : std::uint8_t { validate = 0, set = 1, get = 3, check = 5, num_keys = 7 };
inline constexpr std::uint32_t kStoreMagic = 0x3C85F7CE;  ///< Follows `validate`.
/// Answers to `check`.
enum class StoreHas : std::uint8_t { all = 0, not_all = 1 };

/// Numbers as the machine has them, and texts with their size in front.
template <typename Number>
void append(std::string& message, Number number) {
  message.append(reinterpret_cast<const char*>(&number), sizeof(number));
}
void append_text(std::string& message, std::string_view text);

/// A connection that is one end of a TCPStore. Throws Error{peer_lost} that says why nothing more comes.
class StoreStream {
 public:
  StoreStream() = default;
  explicit StoreStream(FileDescriptor connection) : connection_(std::move(connection)) {}

  int number() const { return connection_.number(); }
  /// For every later wait, and for connecting.
  void set_patience(std::chrono::milliseconds time);
  void send(const std::string& message);
  std::string receive(std::size_t size);
  std::string receive_text();
  template <typename Number>
  Number receive_number() {
    Number number{};
    std::memcpy(&number, receive(sizeof(number)).data(), sizeof(number));
    return number;
  }

 private:
  FileDescriptor connection_;
};

}  // namespace ringside
