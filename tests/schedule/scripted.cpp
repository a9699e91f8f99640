#include "scripted.hpp"

#include <array>
#include <memory>
#include <utility>

namespace ringside {
namespace {

Script& current() {
  static Script script;
  return script;
}

Outline outline(const ScheduleRequest& /*request*/) {
  const auto rounds = std::make_shared<const std::vector<std::vector<Move>>>(current().rounds);
  const auto write = [rounds](std::int64_t round, RoundWriter& writer) {
    for (const Move& move : (*rounds)[static_cast<std::size_t>(round)]) {
      writer.add(move);
    }
  };
  return {.num_chunks = current().num_chunks,
          .num_buffers = current().num_buffers,
          .phases = {{.num_rounds = static_cast<std::int64_t>(rounds->size()), .write = write}}};
}

constexpr Algorithm scripted(Collective collective) {
  return {.name = "scripted",
          .collective = collective,
          .summary = "exactly the moves of a test",
          .wins_when = "never",
          .outline = outline};
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
                   .num_chunks = schedule.num_chunks(),
                   .num_buffers = schedule.num_buffers()};
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, script.rounds.emplace_back());
  }
  return script;
}

}  // namespace ringside
