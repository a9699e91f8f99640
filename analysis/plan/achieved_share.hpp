#pragma once

#include <string>

#include "common/interval.hpp"
#include "scenario/machine/catalog.hpp"

namespace ringside {

/// What published trainings of language models reach on a kind of GPU.
struct AchievedShare {
  /// Share of the data sheet's dense rate in 16 bits; operations include those that checkpointing repeats, and attention of every
  /// token to every other.
  Interval<double> share;
  /// Nobody published such a run on this kind: the interval is from other models or other GPUs, and wide.
  bool extrapolated = false;
};

/// Ends are the 5th and 95th percentile, typical is the median, of 16-bit runs with fused attention, counted by source:
/// mosaicml/llm-foundry@8c8dd48f scripts/train/benchmarking/README.md (A100: 39 to 79 %, H100: 32 to 59 %) and
/// karpathy/llm.c@f1e2ace6 scripts (A100: 60 to 64 %, H100: 49 %).
/// GeForce and other kinds: BERT-large without fused attention reaches 42 to 54 % on GeForce, 30 to 34 % on Volta
/// (lambdal/deeplearning-benchmark@aa5addb6); from there to what fused attention gains on an A100, 1.6 times.
AchievedShare achieved_share(const std::string& gpu_class);

}  // namespace ringside
