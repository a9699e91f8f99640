// What the program itself writes and reads again: journals, and the messages between a parent and its ranks.

#include <array>
#include <cmath>

#include "real/launch/message.hpp"
#include "real/launch/rank_messages.hpp"
#include "real/measure/point_measurement.hpp"
#include "real/measure/recording.hpp"
#include "real/probe/probe_run.hpp"
#include "results/codec/reader.hpp"
#include "results/codec/record.hpp"
#include "target.hpp"

namespace ringside::fuzz {
namespace {

void read_a_journal(std::string_view text) {
  const Results results = parse_results(text, "results.jsonl");
  require(results.complete_bytes <= text.size(), "a journal has more bytes than there are");
  for (const Point& point : results.points) {
    const std::string line = to_line(point);
    const std::optional<Record> back = parse_record(line);
    require(back && to_line(*back) == line, "a point does not read back");
  }
}

void read_a_record(std::string_view text) {
  if (const std::optional<Record> record = parse_record(text)) {
    const std::string line = to_line(*record);
    const std::optional<Record> back = parse_record(line);
    require(back && to_line(*back) == line, "a record does not read back");
  }
}

template <typename V>
void read_a_value(std::string_view text) {
  const std::string message = message_of(value_of<V>(text));
  require(message_of(value_of<V>(message)) == message, "a value does not read back");
}

void read_a_job(std::string_view text) {
  const Job job = job_from_line(text);
  const std::string line = to_line(job);
  require(to_line(job_from_line(line)) == line, "a job does not read back");
  if (const auto* task = std::get_if<TaskJob>(&job)) {
    task->kind == "probe" ? read_a_value<ProbeRequest>(task->request)
                          : read_a_value<PointRequest>(task->request);
  }
}

void read_an_answer(std::string_view text) {
  const Answer answer = answer_from_line(text);
  const std::string line = to_line(answer);
  require(to_line(answer_from_line(line)) == line, "an answer does not read back");
  if (answer.result.starts_with('[')) {
    read_a_value<std::vector<double>>(answer.result);
  } else if (answer.result.find("\"events\"") != std::string::npos) {
    read_a_value<Recording>(answer.result);
  } else if (!answer.result.empty()) {
    read_a_value<Measurement>(answer.result);
  }
}

constexpr std::array kTargets = {
    Target{"journal", read_a_journal},
    Target{"record", read_a_record},
    Target{"job", read_a_job},
    Target{"answer", read_an_answer},
};

}  // namespace

std::span<const Target> message_targets() { return kTargets; }

}  // namespace ringside::fuzz
