// Measurements that other tools wrote down: every format by itself, and any text as `import` sees it.

#include <array>
#include <memory>

#include "analysis/comparison/accuracy.hpp"
#include "analysis/comparison/point_sentences.hpp"
#include "analysis/comparison/verdict.hpp"
#include "analysis/fitted.hpp"
#include "import/anonymise.hpp"
#include "import/import.hpp"
#include "import/machine/run_facts.hpp"
#include "import/parts.hpp"
#include "results/codec/record.hpp"
#include "target.hpp"

namespace ringside::fuzz {
namespace {

const ImportDefaults kDefaults = {.ranks = 8, .collective = Collective::all_reduce};

/// What compare says of measurements that have predictions beside them.
void conclude(std::vector<Point> points) {
  for (Point& point : points) {
    point.predicted = Prediction{.seconds = {1e-4}, .low = Seconds{5e-5}, .high = Seconds{2e-4}};
  }
  if (const auto pair = choose_pair(points)) {
    verdicts(points, *pair);
    crossovers(points, *pair);
  }
  accuracy(points);
  fitted_sentences(fitted_curves(points));
  verdict_sentences(points);
  policy_sentences(points);
}

void use(const Import& import) {
  for (const Series& series : import.series) {
    for (const Point& point : series.points) {
      const std::string line = to_line(point);
      const std::optional<Record> back = parse_record(line);
      require(back && to_line(*back) == line, "an imported point is no record");
      require(point.key.bytes.value >= 0 && point.key.ranks >= 1, "an imported point is of nothing");
    }
  }
  describe_kinds(merge(import.series).points);
  conclude(merge(import.series).points);
}

void import_anything(std::string_view text) { use(import_text(text, "x.log", kDefaults)); }
void import_as_it_says(std::string_view text) {
  use(import_text(text, "x.log", {.placement = Placement::in_place}));
}

/// One reader alone, so that a table of its format is found sooner.
void feed(std::unique_ptr<LogReader> reader, std::string_view text) {
  LogLine line;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    ++line.number;
    line.is_whole = end != std::string_view::npos;
    line.take(text.substr(0, end));
    reader->read(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  Import import;
  for (const TableRows& table : reader->finish(import)) {
    for (std::size_t i = 0; i < table.size; ++i) {
      require(table.row(i).bytes >= 0, "a row has less than no bytes");
    }
  }
}

void import_csv(std::string_view text) {
  Import import;
  read_csv(text, "x.csv", kDefaults, import);
}

void import_json(std::string_view text) {
  Import import;
  read_nccl_tests_json(text, "x.json", kDefaults, import);
}

void see_facts(std::string_view text) { read_run_facts(text); }

void anonymise(std::string_view text) {
  const std::string once = anonymised(text);
  require(once.find('\0') == std::string::npos || text.find('\0') != std::string_view::npos,
          "a name was replaced by bytes that were not there");
}

constexpr std::array kTargets = {
    Target{"import", import_anything},
    Target{"import_in_place", import_as_it_says},
    Target{"nccl_tests", [](std::string_view text) { feed(nccl_tests_reader(kDefaults), text); }},
    Target{"nccl_tests_json", import_json},
    Target{"osu", [](std::string_view text) { feed(osu_reader(), text); }},
    Target{"imb", [](std::string_view text) { feed(imb_reader(), text); }},
    Target{"all_reduce_bench", [](std::string_view text) { feed(all_reduce_bench_reader(), text); }},
    Target{"deepspeed", [](std::string_view text) { feed(deepspeed_reader(), text); }},
    Target{"param", [](std::string_view text) { feed(param_reader(), text); }},
    Target{"gloo_benchmark", [](std::string_view text) { feed(gloo_benchmark_reader(), text); }},
    Target{"import_csv", import_csv},
    Target{"run_facts", see_facts},
    Target{"anonymise", anonymise},
};

}  // namespace

std::span<const Target> log_targets() { return kTargets; }

}  // namespace ringside::fuzz
