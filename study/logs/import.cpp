#include "study/logs/import.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "common/text.hpp"
#include "import/anonymise.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/logs/topology.hpp"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

/// One journal of all series, each point with its number where there are several.
void write_results(ImportStudy& study, const ReadLog& read, const fs::path& log, const Invocation& invocation,
                   const Observer& observer) {
  const auto each_point = [&](const auto& use) {
    read.each_point([&](std::size_t series, std::size_t line, Point&& point) {
      if (read.series > 1) {
        point.series = static_cast<std::int64_t>(series + 1);
      }
      use(series, line, std::move(point));
    });
  };
  study.file = study.directory / "results.jsonl";
  const auto kept = keep_measurements_of(*study.file, [&](const ForPoint& use) {
    each_point([&](std::size_t, std::size_t, const Point& point) { use(point); });
  });
  if (kept) {
    observer.note(fmt::format("Earlier results are kept in {}.", kept->string()));
  }
  Journal journal = Journal::create(
      *study.file, plain_header(invocation, {.name = log.stem().string(), .file = log.string(), .text = {}}));
  constexpr std::size_t kAtOnce = 256;
  std::vector<Point> points;
  PointKinds kinds;
  study.series.resize(read.series);
  each_point([&](std::size_t number, std::size_t line, Point&& point) {
    if (study.series[number].rows == 0 && number > 0) {
      study.series[number - 1].kinds = std::exchange(kinds, {}).sentences();
    }
    ImportedSeries& series = study.series[number];
    series.line = line;
    ++series.rows;
    series.wrong += point.measured->outcome == Outcome::wrong_result ? 1U : 0U;
    kinds.add(point.key);
    points.push_back(std::move(point));
    if (points.size() == kAtOnce) {
      journal.append(points);
      points.clear();
    }
  });
  study.series.back().kinds = kinds.sentences();
  journal.append(points);
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
  const ReadLog log = read_log(request.log, defaults, request.placement);
  ImportStudy study{.import = log.import, .directory = {}};
  study.transfers = known_of_transfers(study.import.transfers);
  if (log.series == 0) {
    if (study.transfers.empty()) {
      throw Error(ErrorKind::bad_input, fmt::format("{}: holds no measurement", request.log.string()));
    }
    return study;
  }
  study.directory = output_directory(invocation, request.log.stem().string());
  write_results(study, log, request.log, invocation, observer);
  return study;
}

fs::path log_or_pipe(const fs::path& log, const Invocation& invocation, std::uint64_t most) {
  if (log != "-") {
    return log;
  }
  const fs::path file = output_directory(invocation, "pipe") / "pipe.log";
  std::ofstream stream(file, std::ios::binary);
  std::string piece(std::size_t{1} << 16U, '\0');
  std::uint64_t taken = 0;
  while (std::cin.read(piece.data(), static_cast<std::streamsize>(piece.size())) || std::cin.gcount() > 0) {
    taken += static_cast<std::uint64_t>(std::cin.gcount());
    if (taken > most) {
      std::error_code ignored;
      fs::remove(file, ignored);
      reject_long_text("standard input", most);
    }
    stream.write(piece.data(), std::cin.gcount());
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

fs::path anonymise(const fs::path& log, const Invocation& invocation, std::uint64_t most) {
  const std::string text = anonymised(read_text(log, most));
  const fs::path file =
      output_directory(invocation, log.stem().string()) / (log.stem().string() + ".anonymous.log");
  write_file(file, text);
  return file;
}

ImportedCopies import_copies(const fs::path& log, std::uint64_t most) {
  ImportedCopies study{.copies = read_copy_matrices(valid_utf8(read_text(log, most)), log.string())};
  if (const auto rates = pair_rates(study.copies)) {
    study.known = fmt::format("{{p2p: {{bandwidth: {:.4g} GB/s}}}}", rates->rate.typical * 1e-9);
  }
  return study;
}

}  // namespace ringside::study
