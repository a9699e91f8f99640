#include "schedule/program/run_rounds.hpp"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "schedule/describe.hpp"

namespace ringside {
namespace {

Bytes bytes_of(const Vector& vector) {
  return {vector.num_elements * static_cast<std::int64_t>(size_of(vector.dtype))};
}

/// In which rounds the receives of these moves are posted: `2`, or `1–3` where ranks differ.
std::string posted_text(std::span<const RunMove> moves) {
  std::set<std::int64_t> rounds;
  for (const RunMove& one : moves) {
    if (!one.move.local()) {
      rounds.insert(one.posted_in + 1);
    }
  }
  return rounds.empty() ? "" : consecutive("", *rounds.begin(), *rounds.rbegin());
}

}  // namespace

RunRounds::RunRounds(const Schedule& schedule, const Vector& vector, const ExecutionPolicy& policy)
    : execution_(schedule, bytes_of(vector), vector.dtype, policy) {
  for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
    read(compile(schedule, vector, rank, policy));
  }
}

void RunRounds::read(const Program& program) {
  std::multiset<std::int64_t> under_way;  // Rounds of transfers that have started and are not waited for.
  for (const Step& step : program.steps) {
    if (step.kind == StepKind::wait) {
      under_way.erase(under_way.find(program.steps[at(step.transfer)].origin.round));
    } else if (step.kind == StepKind::send || step.kind == StepKind::receive) {
      under_way.insert(step.origin.round);
    }
    if (step.kind == StepKind::receive) {
      posted_in_[{program.rank, step.peer, step.origin.round, step.origin.first_chunk}] = *under_way.begin();
    }
  }
}

std::vector<RunMove> RunRounds::round(std::int64_t round) const {
  std::vector<Move> moves;
  execution_.write_round(round, moves);
  const std::int32_t segments = execution_.policy().segments;
  std::vector<RunMove> run;
  for (const Move& move : moves) {
    // A chunk that travels whole is its only segment.
    RunMove& one =
        run.emplace_back(RunMove{.move = move, .segment = move.first_chunk % segments, .posted_in = round});
    one.move.first_chunk /= segments;
    if (!move.local()) {
      one.posted_in = posted_in_.at({move.target, move.source, round, move.first_chunk});
    }
  }
  return run;
}

std::vector<RunLine> describe_round(const RunRounds& run, std::int64_t round) {
  const std::vector<RunMove> all = run.round(round);
  std::vector<RunLine> lines;
  for (auto first = all.begin(); first != all.end();) {
    const auto last =
        std::find_if(first, all.end(), [&](const RunMove& one) { return one.segment != first->segment; });
    std::vector<RunMove> group(first, last);
    std::ranges::stable_sort(
        group, [](const RunMove& a, const RunMove& b) { return a.move.source < b.move.source; });
    const std::vector<Move> moves = mapped(group, &RunMove::move);
    const std::string part = run.execution().policy().segments == 1
                                 ? std::string()
                                 : fmt::format("segment {} of ", first->segment);
    const std::vector<std::string> texts = describe_moves(run.execution().schedule(), moves, part);
    const bool alike = texts.size() < group.size();  // One text for all of them.
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::span<const RunMove> listed = group;
      lines.push_back({.posted_in = posted_text(alike ? listed : listed.subspan(i, 1)), .moves = texts[i]});
    }
    first = last;
  }
  return lines;
}

}  // namespace ringside
