#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

/// Quantities with their own types, and the text that people write and read for them.
/// GB is 10^9 and GiB is 2^30, everywhere.
namespace ringside {

/// Index of a participant, 0 … N−1. A plain integer because rank arithmetic is modular arithmetic.
using Rank = std::int32_t;

struct Seconds {
  double value = 0;
  auto operator<=>(const Seconds&) const = default;
};

struct Bytes {
  std::int64_t value = 0;
  auto operator<=>(const Bytes&) const = default;
};

struct BytesPerSecond {
  double value = 0;
  auto operator<=>(const BytesPerSecond&) const = default;
};

/// Inverse bandwidth β, reduction cost γ.
struct SecondsPerByte {
  double value = 0;
  auto operator<=>(const SecondsPerByte&) const = default;
};

constexpr Seconds operator+(Seconds a, Seconds b) { return {a.value + b.value}; }
constexpr Seconds operator-(Seconds a, Seconds b) { return {a.value - b.value}; }
constexpr Seconds operator*(double factor, Seconds a) { return {factor * a.value}; }
constexpr Seconds operator*(SecondsPerByte cost, Bytes size) {
  return {cost.value * static_cast<double>(size.value)};
}
constexpr Seconds operator/(Bytes size, BytesPerSecond rate) {
  return {static_cast<double>(size.value) / rate.value};
}
/// Inverse of a bandwidth; an infinite or absent rate (0) costs nothing per byte.
constexpr SecondsPerByte inverse(BytesPerSecond rate) { return {rate.value > 0 ? 1 / rate.value : 0}; }
constexpr BytesPerSecond inverse(SecondsPerByte cost) { return {cost.value > 0 ? 1 / cost.value : 0}; }

/// Parse `<number> <unit>`, for example `4 KiB`, `88 MB`, `10 us`, `20 GB/s`, `200 Gb/s`, `0.1 ns/B`.
/// Throws Error{bad_input} whose text says what was found and which units are allowed; a number without a
/// unit, a negative or non-finite number, and a fraction of a byte are errors. The sign of a latency or a
/// bandwidth is not checked beyond that: zero is legal here and judged by the caller.
Bytes parse_bytes(std::string_view text);
Seconds parse_seconds(std::string_view text);
BytesPerSecond parse_bandwidth(std::string_view text);
/// Accepts a time per byte (`0.1 ns/B`) or a rate (`10 GB/s`).
SecondsPerByte parse_seconds_per_byte(std::string_view text);

/// Short text for people: `64 MiB`, `88 MB`, `512 B`; three significant digits where it must round.
std::string format(Bytes size);
/// `12.3 us`, `4.56 ms`, `1.2 s`.
std::string format(Seconds time);
/// `9.87 GB/s`, `50 MB/s`.
std::string format(BytesPerSecond rate);
/// `0.123 ns/B`.
std::string format(SecondsPerByte cost);

/// People and NVIDIA's tables count in GB/s and microseconds; we compute in bytes per second and seconds.
inline constexpr double kGiga = 1e9;
inline constexpr double kMicro = 1e-6;

}  // namespace ringside
