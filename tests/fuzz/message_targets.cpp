// What the program itself writes and reads again: journals, and the messages between a parent and its ranks.

#include <array>
#include <cmath>

#include "real/launch/rank_jobs.hpp"
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

void read_a_job(std::string_view text) {
  const Job job = job_from_line(text);
  const std::string line = to_line(job);
  require(to_line(job_from_line(line)) == line, "a job does not read back");
  description(job);
}

void read_an_answer(std::string_view text) {
  const std::string line = to_line(answer_from_line(text));
  require(to_line(answer_from_line(line)) == line, "an answer does not read back");
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
