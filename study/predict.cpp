#include "study/predict.hpp"

#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/calibrate.hpp"

namespace ringside::study {
namespace {

/// Beside the file of an earlier prediction, which it then replaces; one of something else is kept beside it.
void write_predictions(PointStudy& study, const Invocation& invocation, const Observer& observer) {
  const RunHeader header = run_header(invocation, study.scenario, study.machine);
  if (const auto kept = keep_of_others(study.file, header)) {
    observer.note(fmt::format("Earlier predictions, of something else, are kept in {}.", kept->string()));
  }
  write_file(study.file,
             to_line(header) + '\n' + to_lines(study.points) + to_lines(study.conclusions.records));
}

}  // namespace

PreparedPrediction prepare(const PredictRequest& request, const Invocation& invocation,
                           const Observer& observer) {
  const Scenario& scenario = request.scenario;
  PreparedPrediction prepared{.scenario = scenario,
                              .options = {.fidelity = request.fidelity,
                                          .backend = scenario.backend,
                                          .native_model = request.native.model,
                                          .force = request.force}};
  try {
    prepared.directory = output_directory(invocation, scenario.name);
  } catch (const Error& error) {
    if (!scenario.machine) {
      throw;  // Calibrating writes a machine file.
    }
    prepared.unwritable = error;
  }
  prepared.machine =
      with_known(machine_of(scenario, request.launch, prepared.directory, observer), request.native);
  return prepared;
}

PointStudy predict(const PredictRequest& request, const Invocation& invocation, const Observer& observer) {
  require_use_of_nodes(request.scenario);
  PreparedPrediction prepared = prepare(request, invocation, observer);
  PointStudy study = predicted(std::move(prepared.scenario), std::move(prepared.machine), prepared.options,
                               request.native, observer);
  study.unwritable = prepared.unwritable;
  if (!study.unwritable) {
    try {
      study.file = prepared.directory / "predictions.jsonl";
      write_predictions(study, invocation, observer);
    } catch (const Error& error) {
      study.unwritable = error;  // A full disk, say: the answer needs no file.
    }
  }
  return study;
}

bool holds_results(const std::filesystem::path& file) {
  std::error_code none;
  std::string first;
  if (std::filesystem::is_regular_file(file, none)) {  // A pipe gives its bytes once.
    std::getline(std::ifstream(file), first);
  }
  return first.starts_with(R"({"record")") || kPageStart.starts_with(first + '\n');
}

WrittenStudy read_study(const std::filesystem::path& file, bool fitted) {
  const std::string text = read_text(file);
  if (contains(text, R"(,"sweep":{)")) {
    throw bad_input("{}: is a sweep; a report shows one machine", file.string());
  }
  Results results = parse_results(text, file.string());
  if (results.points.empty()) {
    throw bad_input("{}: holds no point, nothing to report", file.string());
  }
  WrittenStudy written{
      .header = std::move(results.header),
      .study = {.scenario = {}, .machine = {}, .points = std::move(results.points), .file = file},
      .records = std::string(records_in(text, file.string())),
      .notes = std::move(results.notes)};
  PointStudy& study = written.study;
  const ScenarioRecord& scenario = written.header.scenario;
  study.scenario.name = scenario.name;
  study.scenario.file = scenario.text.empty() ? "" : scenario.file;  // Else it is the log that was imported.
  if (const std::optional<MachineRecord>& machine = written.header.machine) {
    study.machine = parse_machine(machine->yaml, machine->name);
  }
  draw_conclusions(study, fitted);
  study.native = native_findings(study.points, study.machine);
  // A run ends with its verdicts.
  written.ended = !study.conclusions.pair || contains(text, R"({"record":"verdict")");
  return written;
}

}  // namespace ringside::study
