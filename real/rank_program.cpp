#include "real/rank_program.hpp"

#include <array>

#include "real/launch/rank_process.hpp"
#include "real/measure/point_measurement.hpp"
#include "real/measure/recording.hpp"
#include "real/probe/probe_run.hpp"

namespace ringside {

int run_rank(std::span<const std::string> arguments) {
  return run_rank_process(arguments, std::array{kMeasurePoint, kRecordPoint, kProbe});
}

}  // namespace ringside
