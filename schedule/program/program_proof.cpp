#include "schedule/program/program_proof.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/program/rank_rounds.hpp"
#include "schedule/proof.hpp"

namespace ringside {
namespace {

std::string text_of(const Region& region) {
  return fmt::format("bytes {} to {} of buffer {}", region.offset, region.offset + region.bytes,
                     region.buffer);
}

/// Nothing is read while received, nor written while received or sent; all transfers are waited for.
void check_in_flight(const Program& program, std::vector<std::string>& faults) {
  std::map<std::int32_t, const Step*> in_flight;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind == StepKind::wait) {
      if (in_flight.erase(step.transfer) == 0) {
        faults.push_back(fmt::format("rank {}, step {}: waits for step {}, which is not in flight",
                                     program.rank, i, step.transfer));
      }
      continue;
    }
    for (const auto& [index, transfer] : in_flight) {
      const bool receives = transfer->kind == StepKind::receive;
      const Region& busy = receives ? transfer->target : transfer->source;
      if ((receives && overlap(step.source, busy)) || overlap(step.target, busy)) {
        faults.push_back(fmt::format("rank {}, step {}: touches {}, which step {} still {}", program.rank, i,
                                     text_of(busy), index, receives ? "receives" : "sends"));
      }
    }
    if (step.kind == StepKind::send || step.kind == StepKind::receive) {
      in_flight[static_cast<std::int32_t>(i)] = &step;
    }
  }
  for (const auto& [index, transfer] : in_flight) {
    faults.push_back(fmt::format("rank {}: nobody waits for step {}", program.rank, index));
  }
}

/// What some bytes hold: how often each rank's contribution. No counts = undefined.
struct Cell {
  std::vector<std::int16_t> counts;
  int divisions = 0;
};

/// Runs the programs of all ranks on contributions. A message arrives when both its sides are posted.
class SymbolicRun {
 public:
  SymbolicRun(const Schedule& schedule, std::span<const Program> programs, std::vector<std::string>& faults)
      : schedule_(schedule), programs_(programs), faults_(faults), ranks_(programs.size()) {
    find_boundaries();
    for (Rank rank = 0; at(rank) < ranks_.size(); ++rank) {
      write_input(rank);
      ranks_[at(rank)].arrived.resize(programs_[at(rank)].steps.size());
    }
  }

  void run() {
    bool progress = true;
    while (progress) {
      progress = false;
      for (Rank rank = 0; at(rank) < ranks_.size(); ++rank) {
        while (advance(rank)) {
          progress = true;
        }
      }
    }
    for (const Program& program : programs_) {
      const std::size_t next = ranks_[at(program.rank)].next;
      if (next < program.steps.size()) {
        add_fault(program.rank, next, "waits for a message that never comes");
      }
    }
    if (faults_.empty()) {
      check_promise();
    }
  }

 private:
  struct RankState {
    std::size_t next = 0;  ///< The step that comes next.
    std::vector<bool> arrived;
    std::vector<std::vector<Cell>> buffers;  ///< The schedule's, by cell.
    std::map<std::int64_t, std::vector<Cell>> staged;
  };
  struct Channel {
    std::deque<std::size_t> sends;
    std::deque<std::size_t> receives;
  };

  void add_fault(Rank rank, std::size_t step, const std::string& what) {
    faults_.push_back(fmt::format("rank {}, step {}: {}", rank, step, what));
  }

  ChunkLayout layout() const {
    const Program& first = programs_.front();
    const auto element = static_cast<std::int64_t>(size_of(first.dtype));
    return {first.buffer_bytes.front() / element, schedule_.num_chunks()};
  }

  Region region_of(std::int32_t chunk) const {
    const auto element = static_cast<std::int64_t>(size_of(programs_.front().dtype));
    const ElementRange elements = layout().elements(chunk);
    return {.offset = elements.first * element, .bytes = elements.count * element};
  }

  /// Cells lie between the ends of all regions that anybody touches.
  void find_boundaries() {
    const auto add = [&](const Region& region) {
      boundaries_.push_back(region.offset);
      boundaries_.push_back(region.offset + region.bytes);
    };
    for (std::int32_t chunk = 0; chunk < schedule_.num_chunks(); ++chunk) {
      add(region_of(chunk));
    }
    for (const Program& program : programs_) {
      for (const Step& step : program.steps) {
        for (const Region* region : {&step.source, &step.target}) {
          if (region->buffer != program.staging()) {
            add(*region);
          }
        }
      }
    }
    std::ranges::sort(boundaries_);
    boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  }

  std::size_t cell_at(std::int64_t offset) const {
    return static_cast<std::size_t>(std::lower_bound(boundaries_.begin(), boundaries_.end(), offset) -
                                    boundaries_.begin());
  }

  void write_input(Rank rank) {
    RankState& state = ranks_[at(rank)];
    state.buffers.assign(at(schedule_.num_buffers()), std::vector<Cell>(boundaries_.size()));
    for (std::int32_t chunk = 0; chunk < schedule_.num_chunks(); ++chunk) {
      if (!holds_at_start(schedule_, rank, chunk)) {
        continue;
      }
      for (Cell* cell : cells(rank, region_of(chunk))) {
        cell->counts.assign(ranks_.size(), 0);
        cell->counts[at(rank)] = 1;
      }
    }
  }

  /// A region's cells; none for a part of the staging buffer that has received nothing of that size.
  std::vector<Cell*> cells(Rank rank, const Region& region) {
    RankState& state = ranks_[at(rank)];
    std::vector<Cell*> result;
    if (region.buffer == schedule_.num_buffers()) {
      for (Cell& cell : state.staged[region.offset]) {
        result.push_back(&cell);
      }
      return result;
    }
    std::vector<Cell>& buffer = state.buffers[at(region.buffer)];
    for (std::size_t i = cell_at(region.offset); i < cell_at(region.offset + region.bytes); ++i) {
      result.push_back(&buffer[i]);
    }
    return result;
  }

  /// Whether the rank got one step further.
  bool advance(Rank rank) {
    RankState& state = ranks_[at(rank)];
    const std::vector<Step>& steps = programs_[at(rank)].steps;
    if (state.next == steps.size()) {
      return false;
    }
    const Step& step = steps[state.next];
    if (step.kind == StepKind::wait && !state.arrived[at(step.transfer)]) {
      return false;
    }
    run_step(rank, state.next, step);
    ++state.next;
    return true;
  }

  void run_step(Rank rank, std::size_t index, const Step& step) {
    switch (step.kind) {
      case StepKind::receive: {
        Channel& channel = channels_[{step.peer, rank}];
        channel.receives.push_back(index);
        return match(step.peer, rank, channel);
      }
      case StepKind::send: {
        Channel& channel = channels_[{rank, step.peer}];
        channel.sends.push_back(index);
        return match(rank, step.peer, channel);
      }
      case StepKind::wait:
        return;
      case StepKind::copy:
      case StepKind::reduce:
        return combine(rank, index, step);
      case StepKind::divide:
        for (Cell* cell : cells(rank, step.target)) {
          ++cell->divisions;
        }
        return;
    }
  }

  void match(Rank source, Rank target, Channel& channel) {
    while (!channel.sends.empty() && !channel.receives.empty()) {
      const std::size_t sent = channel.sends.front();
      const std::size_t received = channel.receives.front();
      channel.sends.pop_front();
      channel.receives.pop_front();
      const Step& send = programs_[at(source)].steps[sent];
      const Step& receive = programs_[at(target)].steps[received];
      if (!(send.origin == receive.origin) || send.source.bytes != receive.target.bytes) {
        add_fault(target, received,
                  fmt::format("receives another message than rank {} sends in its step {}", source, sent));
      }
      deliver(cells(source, send.source), target, receive.target);
      ranks_[at(source)].arrived[sent] = true;
      ranks_[at(target)].arrived[received] = true;
    }
  }

  void deliver(const std::vector<Cell*>& sent, Rank target, const Region& region) {
    if (region.buffer == schedule_.num_buffers()) {
      std::vector<Cell>& staged = ranks_[at(target)].staged[region.offset];
      staged.clear();
      for (const Cell* cell : sent) {
        staged.push_back(*cell);
      }
      return;
    }
    const std::vector<Cell*> placed = cells(target, region);
    for (std::size_t i = 0; i < std::min(placed.size(), sent.size()); ++i) {
      *placed[i] = *sent[i];
    }
  }

  void combine(Rank rank, std::size_t index, const Step& step) {
    const std::vector<Cell*> sources = cells(rank, step.source);
    const std::vector<Cell*> targets = cells(rank, step.target);
    if (sources.size() != targets.size()) {
      return add_fault(rank, index, "reads what has not arrived as such");
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (step.kind == StepKind::copy) {
        *targets[i] = *sources[i];
        continue;
      }
      if (sources[i]->counts.empty() || targets[i]->counts.empty()) {
        return add_fault(rank, index, "reduces what is undefined");
      }
      for (std::size_t contribution = 0; contribution < ranks_.size(); ++contribution) {
        targets[i]->counts[contribution] =
            static_cast<std::int16_t>(targets[i]->counts[contribution] + sources[i]->counts[contribution]);
      }
    }
  }

  void check_promise() {
    const bool reduced = reduces(schedule_.algorithm().collective);
    const int divisions = reduced && programs_.front().op == ReduceOp::avg ? 1 : 0;
    for (std::int32_t chunk = 0; chunk < schedule_.num_chunks(); ++chunk) {
      std::vector<std::int16_t> due(ranks_.size(), 0);
      for (Rank rank = 0; at(rank) < ranks_.size(); ++rank) {
        due[at(rank)] = reduced || holds_at_start(schedule_, rank, chunk) ? 1 : 0;
      }
      for (Rank rank = 0; at(rank) < ranks_.size(); ++rank) {
        if (!promised_at_end(schedule_, rank, chunk)) {
          continue;
        }
        const std::vector<Cell*> found = cells(rank, region_of(chunk));
        if (std::ranges::any_of(found, [&](const Cell* cell) {
              return cell->counts != due || cell->divisions != divisions;
            })) {
          faults_.push_back(fmt::format("rank {} ends without the result of chunk {}", rank, chunk));
        }
      }
    }
  }

  const Schedule& schedule_;
  std::span<const Program> programs_;
  std::vector<std::string>& faults_;
  std::vector<std::int64_t> boundaries_;
  std::vector<RankState> ranks_;
  std::map<std::pair<Rank, Rank>, Channel> channels_;
};

}  // namespace

std::vector<std::string> faults_of_programs(const Schedule& schedule, std::span<const Program> programs) {
  RINGSIDE_CHECK(programs.size() == at(schedule.num_ranks()), "every rank has a program");
  std::vector<std::string> faults;
  for (const Program& program : programs) {
    check_in_flight(program, faults);
  }
  if (faults.empty()) {
    SymbolicRun(schedule, programs, faults).run();
  }
  return faults;
}

std::vector<std::string> faults_under(const Schedule& schedule, const Vector& vector,
                                      const ExecutionPolicy& policy) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
    programs.push_back(compile(schedule, vector, rank, policy));
  }
  return faults_of_programs(schedule, programs);
}

void require_proof(const Schedule& schedule, const Vector& vector, const ExecutionPolicy& policy) {
  constexpr std::int64_t kMostCells = 1 << 17;
  const std::int64_t n = schedule.num_ranks();
  if (n * n * schedule.num_chunks() * policy.segments > kMostCells) {
    return;
  }
  std::vector<std::string> faults = prove(schedule).faults;
  if (faults.empty()) {
    faults = faults_under(schedule, vector, policy);
  }
  RINGSIDE_CHECK(faults.empty(), fmt::format("{} {} of {} ranks is wrong: {}", schedule.algorithm().name,
                                             name(schedule.algorithm().collective), n, faults.front()));
}

}  // namespace ringside
