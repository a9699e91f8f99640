#include "scripted.hpp"

#include <array>
#include <utility>

namespace ringside {
namespace {

Script& current() {
  static Script script;
  return script;
}

ScheduleShape shape(const ScheduleRequest& /*request*/) {
  ScheduleShape result = current().shape;
  result.num_rounds = static_cast<std::int64_t>(current().rounds.size());
  return result;
}

void write_round(const ScheduleRequest& /*request*/, std::int64_t round, RoundWriter& writer) {
  for (const Move& move : current().rounds[static_cast<std::size_t>(round)]) {
    writer.add(move);
  }
}

CriticalPath critical_path(const ScheduleRequest& /*request*/) { return {}; }

constexpr Algorithm scripted(Collective collective) {
  return {.name = "scripted",
          .collective = collective,
          .summary = "exactly the moves of a test",
          .wins_when = "never",
          .shape = shape,
          .write_round = write_round,
          .critical_path = critical_path};
}

}  // namespace

Schedule scripted_schedule(Script script, int num_ranks, Rank root) {
  static constexpr std::array kAlgorithms = {
      scripted(Collective::all_reduce), scripted(Collective::reduce_scatter),
      scripted(Collective::all_gather), scripted(Collective::broadcast),
      scripted(Collective::reduce),     scripted(Collective::gather),
      scripted(Collective::all_to_all), scripted(Collective::send_recv)};
  current() = std::move(script);
  return Schedule(kAlgorithms.at(static_cast<std::size_t>(current().collective)),
                  {.num_ranks = num_ranks, .root = root});
}

Script script_of(const Schedule& schedule) {
  Script script = {.collective = schedule.algorithm().collective,
                   .shape = {.num_chunks = schedule.num_chunks(), .num_buffers = schedule.num_buffers()}};
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, script.rounds.emplace_back());
  }
  return script;
}

}  // namespace ringside
