#pragma once

/// People and NVIDIA's tables count in GB/s and microseconds; we compute in bytes per second and seconds.
namespace ringside {

inline constexpr double kGiga = 1e9;
inline constexpr double kMicro = 1e-6;

}  // namespace ringside
