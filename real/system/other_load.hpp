#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <istream>
#include <span>
#include <vector>

namespace ringside {

/// Seconds since the system started in which these cores worked, and in which a hypervisor gave them to
/// others, from text as /proc/stat has it.
struct CoreSeconds {
  double busy = 0;
  double stolen = 0;
};
CoreSeconds core_seconds(std::istream& statistics, std::span<const std::size_t> cores,
                         double ticks_per_second);

/// Seconds for which the control group that `groups` (as /proc/self/cgroup) names was stopped, from its
/// statistics below `folder`; 0 where there are none.
double throttled_seconds(const std::filesystem::path& groups, const std::filesystem::path& folder);

/// What the kernel knows of others who wanted some cores, since this was made. All of it is 0 where the
/// system does not tell, and counted in steps of 10 ms.
class OtherLoad {
 public:
  explicit OtherLoad(std::span<const std::size_t> cores);
  /// On all cores that this process may use.
  OtherLoad();

  /// On these, for the time to come: returns after it.
  static OtherLoad over(std::chrono::milliseconds time);

  std::chrono::duration<double> elapsed() const;
  /// Cores used by others than this process and its ended children; 1 = one core all the time.
  double cores_used() const;
  /// Cores that the hypervisor gave to other machines while somebody here wanted them.
  double cores_stolen() const;
  /// Cores' worth of time for which this process's control group was stopped: its share was used up.
  double cores_throttled() const;

 private:
  /// Seconds since the system started.
  struct Counters {
    double busy = 0;
    double stolen = 0;
    double own = 0;
    double throttled = 0;
  };
  static Counters read(std::span<const std::size_t> cores);
  double rate(double Counters::*counter) const;

  std::vector<std::size_t> cores_;
  std::chrono::steady_clock::time_point begin_;
  Counters before_;
};

}  // namespace ringside
