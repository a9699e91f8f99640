#include "study/read_study.hpp"

#include <fstream>

#include <fmt/format.h>

#include "common/error.hpp"
#include "results/codec/page_records.hpp"
#include "results/codec/reader.hpp"

namespace ringside::study {

bool holds_results(const std::filesystem::path& file) {
  constexpr std::string_view kRecord = "{\"record\"";
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) {
    return false;  // A pipe gives its bytes once.
  }
  std::string start(kPageStart.size(), '\0');
  std::ifstream(file, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == kPageStart || start.starts_with(kRecord);
}

WrittenStudy read_study(const std::filesystem::path& file, bool fitted) {
  WrittenStudy written;
  const std::string text = read_text(file);
  if (text.find(R"(,"sweep":{)") != std::string::npos) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: is a sweep; a report shows one machine", file.string()));
  }
  Results results = parse_results(text, file.string());
  if (results.points.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: holds no point, nothing to report", file.string()));
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
  study.conclusions = conclude(study.points, fitted);
  say_what_disturbed(study);
  study.native = native_findings(study.points, study.machine);
  return written;
}

PageRecords records_for_page(const WrittenStudy& written, std::size_t most) {
  if (written.records.size() <= most) {
    return {.text = written.records};
  }
  constexpr std::size_t kSamples = 25;
  // Whole points: a repetition that is a line of its own needs all samples of the lines before it.
  std::string text = to_line(Record(written.header)) + '\n';
  std::size_t all = 0;
  std::size_t kept = 0;
  for (Point point : written.study.points) {
    if (point.measured) {
      std::vector<double>& samples = point.measured->samples;
      all += samples.size();
      const std::size_t step = (samples.size() + kSamples - 1) / kSamples;
      for (std::size_t i = 0; i * step < samples.size() && step > 1; ++i) {
        samples[i] = samples[i * step];
      }
      samples.resize(step > 1 ? (samples.size() + step - 1) / step : samples.size());
      kept += samples.size();
    }
    text += to_line(point) + '\n';
  }
  for (const Record& record : written.study.conclusions.records) {
    text += to_line(record) + '\n';
  }
  return {.text = std::move(text),
          .thinned = fmt::format("The records in this page hold {} of {} samples, evenly picked; medians and "
                                 "intervals are of all of them.",
                                 kept, all)};
}

}  // namespace ringside::study
