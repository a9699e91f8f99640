#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/limit.hpp"
#include "results/point.hpp"
#include "results/prediction.hpp"
#include "scenario/machine/machine.hpp"

namespace ringside {

/// One phrase without a full stop: `2 flows share staging of GPU 0 in host memory, and so with other links of
/// this kind`. Links whose flows are all held back by another link do not count.
std::string limit_sentence(const Limit& limit);

/// All of them, `; ` between.
std::string limit_sentences(std::span<const Limit> limits);

/// For the largest message on the most ranks: algorithms simulated by classes of ranks, or that should have
/// been: `ring: 65,536 ranks in 8 classes of those that do the same at the same time; the busiest link: …`.
std::vector<std::string> class_sentences(std::span<const Point> points);

/// How much slower the machine was for a part of the time in which it was probed, what the kernel knows of
/// why, and which state predictions are for. None where it was quiet, or not probed three times.
std::optional<std::string> disturbance_sentence(const Machine& machine);

/// How far off predictions of NCCL's own collectives are on published machines like this one, none of which
/// was in the fit; empty where the points have no such prediction from a description alone.
std::string held_out_sentence(const std::vector<Point>& points, const Machine& machine);

/// configs/nccl/held_out_errors.jsonl as it was when the program was built.
extern const std::string_view kHeldOutErrors;

/// How a predicted algorithm uses NICs.
struct AlgorithmNics {
  std::string algorithm;
  NicUse nics;
};

/// Which algorithms leave NICs of a node idle, and that `native`, where it is among them, does not:
/// `ring uses 1 of the 4 NICs of a node`. One sentence, without a full stop, for all algorithms that use as
/// many. An algorithm that uses more in some predictions than in others `uses 1 to 2`.
std::vector<std::string> nic_sentences(std::span<const AlgorithmNics> predicted);

/// Whether prediction and measurement have different execution policies; no where a side says none.
bool policies_differ(const Point& point);

/// `predicted for whole chunks …, but measured with …`, where the two differ.
std::string policy_difference(const ExecutionPolicy& predicted, const ExecutionPolicy& measured);

/// One sentence, without a full stop, for every algorithm, number of ranks and pair of policies that differ,
/// with the sizes that it is about: such times do not tell how good a prediction was.
std::vector<std::string> policy_sentences(std::span<const Point> points);

}  // namespace ringside
