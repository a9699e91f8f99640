#include "study/import.hpp"

#include <fmt/format.h>

#include "common/error.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "scenario/machine/topology_matrix.hpp"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

/// results.jsonl for the first series, results-2.jsonl for the second.
fs::path file_of(const fs::path& directory, std::size_t index) {
  return directory / (index == 0 ? std::string("results.jsonl") : fmt::format("results-{}.jsonl", index + 1));
}

void write_series(const Series& series, const fs::path& log, const fs::path& file,
                  const Invocation& invocation, const Observer& observer) {
  if (const auto kept = keep_measurements(file, series.points)) {
    observer.note(fmt::format("Earlier results are kept in {}.", kept->string()));
  }
  Journal journal = Journal::create(
      file, plain_header(invocation, {.name = log.stem().string(), .file = log.string(), .text = {}}));
  for (const Point& point : series.points) {
    journal.append(point);
  }
}

}  // namespace

ImportStudy import_log(const ImportRequest& request, const Invocation& invocation, const Observer& observer) {
  ImportStudy study{.import = import_measurements(request.log, request.defaults, request.placement),
                    .directory = {}};
  if (study.import.series.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: holds no measurement", request.log.string()));
  }
  study.directory = output_directory(invocation, request.log.stem().string());
  for (std::size_t i = 0; i < study.import.series.size(); ++i) {
    study.files.push_back(file_of(study.directory, i));
    write_series(study.import.series[i], request.log, study.files.back(), invocation, observer);
  }
  return study;
}

ImportedMachine import_topology(const fs::path& matrix, const std::optional<std::string>& gpu,
                                const Invocation& invocation) {
  TopologyMachine imported = machine_of_topology(read_text(matrix), matrix.string(), gpu);
  imported.machine.name = matrix.stem().string();
  ImportedMachine study{.machine = imported.machine, .yaml = to_yaml(imported.machine), .file = {}};
  // What cannot be predicted for is refused here, not when it is used.
  parse_machine(study.yaml, matrix.string());
  study.file = output_directory(invocation, matrix.stem().string()) / "machine.yaml";
  std::string text;
  for (const std::string& note : imported.notes) {
    text += "# " + note + '\n';
  }
  write_file(study.file, text + study.yaml);
  return study;
}

}  // namespace ringside::study
