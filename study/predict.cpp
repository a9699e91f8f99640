#include "study/predict.hpp"

#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
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

}  // namespace ringside::study
