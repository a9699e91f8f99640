#include "analysis/plan/achieved_share.hpp"

#include <map>

namespace ringside {

AchievedShare achieved_share(const std::string& gpu_class) {
  static const std::map<std::string, AchievedShare> known = {
      {"ampere", {.share = {.low = 0.42, .typical = 0.58, .high = 0.76}}},
      {"hopper", {.share = {.low = 0.32, .typical = 0.45, .high = 0.58}}},
      {"geforce", {.share = {.low = 0.40, .typical = 0.56, .high = 0.80}, .extrapolated = true}},
      {"volta", {.share = {.low = 0.25, .typical = 0.37, .high = 0.54}, .extrapolated = true}},
  };
  const auto found = known.find(gpu_class);
  return found != known.end()
             ? found->second
             : AchievedShare{.share = {.low = 0.18, .typical = 0.35, .high = 0.65}, .extrapolated = true};
}

}  // namespace ringside
