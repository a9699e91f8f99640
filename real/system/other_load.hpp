#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace ringside {

/// How much of some cores other processes have used since this was made.
class OtherLoad {
 public:
  explicit OtherLoad(std::span<const std::size_t> cores);

  std::chrono::duration<double> elapsed() const;
  /// 1 = one core all the time. 0 where the system does not tell. The kernel counts in steps of 10 ms.
  double cores_used() const;

 private:
  std::vector<std::size_t> cores_;
  std::chrono::steady_clock::time_point begin_;
  double busy_before_ = 0;  ///< Seconds, of all these cores.
  double own_before_ = 0;   ///< Seconds, of this process.
};

}  // namespace ringside
