#include "study/logs/import.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "import/anonymise.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/logs/topology.hpp"

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

/// The median of the blocks, because each may be of another pair.
std::vector<std::string> known_of_transfers(Transfers transfers) {
  std::vector<std::string> keys;
  std::vector<std::string> sentences;
  if (std::vector<double>& rates = transfers.bytes_per_second; !rates.empty()) {
    std::sort(rates.begin(), rates.end());
    keys.push_back(fmt::format("bandwidth: {:.4g} GB/s", rates[rates.size() / 2] * 1e-9));
    if (rates.size() > 1) {
      sentences.push_back(fmt::format("{} blocks: {:.4g} to {:.4g} GB/s", rates.size(), rates.front() * 1e-9,
                                      rates.back() * 1e-9));
    }
  }
  if (transfers.latency) {
    keys.push_back(fmt::format("latency: {:.4g} us", transfers.latency->value * 1e6));
  }
  if (!keys.empty()) {
    sentences.push_back(fmt::format("known: [{{p2p: {{{}}}}}]", fmt::join(keys, ", ")));
  }
  return sentences;
}

}  // namespace

ImportStudy import_log(const ImportRequest& request, const Invocation& invocation, const Observer& observer) {
  ImportDefaults defaults = request.defaults;
  defaults.transfers_suffice = true;
  ImportStudy study{.import = import_measurements(request.log, defaults, request.placement), .directory = {}};
  study.transfers = known_of_transfers(study.import.transfers);
  if (study.import.series.empty()) {
    if (study.transfers.empty()) {
      throw Error(ErrorKind::bad_input, fmt::format("{}: holds no measurement", request.log.string()));
    }
    return study;
  }
  study.directory = output_directory(invocation, request.log.stem().string());
  for (std::size_t i = 0; i < study.import.series.size(); ++i) {
    study.files.push_back(file_of(study.directory, i));
    write_series(study.import.series[i], request.log, study.files.back(), invocation, observer);
  }
  return study;
}

fs::path log_or_pipe(const fs::path& log, const Invocation& invocation) {
  if (log != "-") {
    return log;
  }
  const fs::path file = output_directory(invocation, "pipe") / "pipe.log";
  std::ofstream stream(file, std::ios::binary);
  if (std::cin.peek() != std::istream::traits_type::eof()) {
    stream << std::cin.rdbuf();
  }
  if (!stream.flush()) {
    throw Error(ErrorKind::environment, fmt::format("{}: cannot be written", file.string()));
  }
  return file;
}

LogKind kind_of_log(const fs::path& log) {
  constexpr std::size_t kStart = 256 * 1024;
  std::error_code error;
  std::string start(fs::is_directory(log, error) ? 0 : kStart, '\0');
  std::ifstream stream(log, std::ios::binary);
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  const auto has = [&](std::string_view text) { return start.find(text) != std::string::npos; };
  // A log of a benchmark may show the machine before its table.
  if (has("busbw") || has("OSU MPI") || has("\"record\"")) {
    return LogKind::measurements;
  }
  if (holds_copy_matrices(start)) {
    return LogKind::copies;
  }
  return holds_topology(start) ? LogKind::topology : LogKind::measurements;
}

fs::path anonymise(const fs::path& log, const Invocation& invocation) {
  const std::string text = anonymised(read_text(log));
  const fs::path file =
      output_directory(invocation, log.stem().string()) / (log.stem().string() + ".anonymous.log");
  write_file(file, text);
  return file;
}

ImportedCopies import_copies(const fs::path& log) {
  ImportedCopies study{.copies = read_copy_matrices(read_text(log), log.string())};
  if (const auto rates = pair_rates(study.copies)) {
    study.known = fmt::format("{{p2p: {{bandwidth: {:.4g} GB/s}}}}", rates->rate.typical * 1e-9);
  }
  return study;
}

}  // namespace ringside::study
