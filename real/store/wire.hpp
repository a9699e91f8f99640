#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// How a TCPStore's requests look in transit: a byte says which, numbers are those of the machine, a text has
/// its size in front. Source: PyTorch, torch/csrc/distributed/c10d/TCPStore.cpp.
namespace ringside::tcp_store {

enum class Request : std::uint8_t { validate = 0, set = 1, get = 3, add = 4, wait = 6, num_keys = 7 };

/// Follows `validate`, with which a connection begins. Before PyTorch 2.1 there was no such request, and all
/// others were less by one.
inline constexpr std::uint32_t kMagic = 0x3C85F7CE;
inline constexpr std::uint8_t kReady = 0;  ///< Answers `wait`.

template <typename Number>
void put(std::string& message, Number number) {
  message.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

inline void put_text(std::string& message, std::string_view text) {
  put(message, static_cast<std::uint64_t>(text.size()));
  message += text;
}

}  // namespace ringside::tcp_store
