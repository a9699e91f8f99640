#include "study/predict.hpp"

#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
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
  std::string text = to_line(header) + '\n';
  for (const Point& point : study.points) {
    text += to_line(point) + '\n';
  }
  for (const Record& record : study.conclusions.records) {
    text += to_line(record) + '\n';
  }
  write_file(study.file, text);
}

}  // namespace

PreparedPrediction prepare(const PredictRequest& request, const Invocation& invocation,
                           const Observer& observer) {
  const Scenario& scenario = request.scenario;
  std::filesystem::path directory;
  std::optional<Error> unwritable;
  try {
    directory = output_directory(invocation, scenario.name);
  } catch (const Error& error) {
    if (!scenario.machine) {
      throw;  // Calibrating writes a machine file.
    }
    unwritable = error;
  }
  Machine machine = with_known(machine_of(scenario, request.launch, directory, observer), request.native);
  const PredictOptions options = {.fidelity = request.fidelity,
                                  .backend = scenario.backend,
                                  .native_model = request.native.model,
                                  .force = request.force};
  return {.scenario = scenario,
          .directory = directory,
          .unwritable = unwritable,
          .machine = std::move(machine),
          .options = options};
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
  if (!std::filesystem::is_regular_file(file, none)) {
    return false;  // A pipe gives its bytes once.
  }
  std::string start(kPageStart.size(), '\0');
  std::ifstream(file, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == kPageStart || start.starts_with(R"({"record")");
}

WrittenStudy read_study(const std::filesystem::path& file, bool fitted) {
  WrittenStudy written;
  const std::string text = read_text(file);
  if (text.find(R"(,"sweep":{)") != std::string::npos) {
    throw bad_input("{}: is a sweep; a report shows one machine", file.string());
  }
  Results results = parse_results(text, file.string());
  if (results.points.empty()) {
    throw bad_input("{}: holds no point, nothing to report", file.string());
  }
  written.records = records_in(text);
  written.header = std::move(results.header);
  written.notes = std::move(results.notes);

  PointStudy& study = written.study;
  study.scenario.name = written.header.scenario.name;
  if (const std::optional<MachineRecord>& machine = written.header.machine) {
    study.machine = parse_machine(machine->yaml, machine->name);
  }
  study.points = std::move(results.points);
  study.file = file;
  draw_conclusions(study, fitted);
  study.native = native_findings(study.points, study.machine);
  // A run ends with its verdicts.
  written.ended = !study.conclusions.pair || text.find(R"({"record":"verdict")") != std::string::npos;
  return written;
}

std::string records_for_page(const WrittenStudy& written, std::size_t most, std::vector<std::string>& notes) {
  if (written.records.size() <= most) {
    return written.records;
  }
  constexpr std::size_t kSamples = 25;
  // Whole points: a repetition that is a line of its own needs all samples of the lines before it.
  std::string text = to_line(Record(written.header)) + '\n';
  std::size_t all = 0;
  std::size_t kept = 0;
  for (Point point : written.study.points) {
    if (point.measured) {
      const std::vector<double> samples = std::exchange(point.measured->samples, {});
      for (std::size_t i = 0; i < samples.size(); i += 1 + (samples.size() - 1) / kSamples) {
        point.measured->samples.push_back(samples[i]);
      }
      all += samples.size();
      kept += point.measured->samples.size();
    }
    text += to_line(point) + '\n';
  }
  for (const Record& record : written.study.conclusions.records) {
    text += to_line(record) + '\n';
  }
  notes.push_back(
      fmt::format("The records in this page hold {} of {} samples, evenly picked; medians and "
                  "intervals are of all of them.",
                  kept, all));
  return text;
}

}  // namespace ringside::study
