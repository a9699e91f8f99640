// Tables of published numbers, which ringside-lab reads.

#include <array>

#include "lab/planning/published_runs.hpp"
#include "lab/planning/scaling_check.hpp"
#include "target.hpp"

namespace ringside::fuzz {
namespace {

void read_published_scaling(std::string_view text) {
  for (const PublishedScaling& row : load_published_scaling(as_file(text))) {
    require(row.gpus >= 1 && row.batch_per_gpu >= 1 && row.accumulate >= 1, "a published run on nothing");
  }
}

void read_published_runs(std::string_view text) {
  load_published_runs(as_file(text), {.machines = source_folder() / "configs/machines"});
}

constexpr std::array kTargets = {
    Target{"published_scaling", read_published_scaling},
    Target{"published_runs", read_published_runs},
};

}  // namespace

std::span<const Target> lab_targets() { return kTargets; }

}  // namespace ringside::fuzz
