#include "study/logs/import.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/failures.hpp"
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
    std::ranges::sort(rates);
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

/// Letters, digits and dashes.
std::string file_name(const std::string& text) {
  std::string result;
  for (const char c : lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.') {
      result += c;
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  return result;
}

std::string indented(const std::string& yaml) {
  std::string result;
  for (const std::string_view line : split(trimmed(yaml, "\n"), '\n')) {
    result += fmt::format("      {}\n", line);
  }
  return result;
}

std::vector<std::string> missing_from(const LogCheck& check, const SubmitRequest& request) {
  std::vector<std::string> missing;
  const Machine& machine = check.machine;
  if (!request.source) {
    missing.emplace_back("`source`: where it is published, a URL");
  }
  if (check.incomplete) {
    missing.emplace_back("the end of the run: the log lacks `Out of bounds values` and `Avg bus bandwidth`");
  }
  if (!machine.software.nccl && !machine.software.rccl) {
    missing.emplace_back("the version of NCCL: `software: {nccl: …}`");
  }
  if (!machine.cpu && machine.intra && machine.intra->kind == IntraKind::pcie) {
    missing.emplace_back("who makes the CPUs: `cpu: {vendor: …}`");
  }
  if (machine.intra && machine.intra->kind == IntraKind::pcie && !machine.intra->peer_to_peer) {
    missing.emplace_back(
        "whether GPUs reach each other's memory: `intra.peer_to_peer` (NCCL_DEBUG=INFO: via P2P or via SHM)");
  }
  if (machine.nodes > 1 && machine.inter && !machine.inter->gpudirect) {
    missing.emplace_back("whether NICs reach the GPUs' memory: `inter.gpudirect` (NCCL_DEBUG=INFO: GDRDMA)");
  }
  for (const std::string& assumption : check.assumptions) {
    missing.push_back(fmt::format("whether this is right: {}", assumption));
  }
  return missing;
}

}  // namespace

ImportStudy import_log(const ImportRequest& request, const Invocation& invocation, const Observer& observer) {
  ImportDefaults defaults = request.defaults;
  defaults.transfers_suffice = true;
  const ReadLog log = read_log(request.log, defaults);
  ImportStudy study{.import = log.import, .directory = {}};
  study.transfers = known_of_transfers(study.import.transfers);
  if (log.series == 0) {
    if (study.transfers.empty()) {
      throw bad_input("{}: holds no measurement", request.log.string());
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
    throw lacking("{}: cannot be written", file.string());
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

Submission submit(const SubmitRequest& request, const Invocation& invocation) {
  const std::vector<LogCheck> checks = LogChecker(request.machine).check_log(request.log);
  if (checks.size() > 1) {
    throw bad_input("{}: holds runs of several collectives or numbers of ranks; submit each of its own",
                    request.log.string());
  }
  const LogCheck& check = checks.front();
  if (const std::string failure = check.failure(); !failure.empty()) {
    throw Error(ErrorKind::failed,
                fmt::format("{}: its results do not count: {}", request.log.string(), failure));
  }
  const PointKey& key = check.check.points.front().key;
  const std::string name = file_name(fmt::format(
      "{}-{}x-{}node{}", check.machine.gpu->model, key.ranks, check.machine.nodes,
      key.collective == Collective::all_reduce ? std::string()
                                               : fmt::format("-{}", ringside::name(key.collective))));
  const std::string group = file_name(request.source.value_or(name));
  const std::filesystem::path directory = output_directory(invocation, "submit");
  Submission submission{.source = directory / (group + ".yaml"), .table = directory / (group + ".csv")};
  submission.missing = missing_from(check, request);
  std::string table = "system,bytes,time_us\n";
  std::vector<std::string> sizes;
  for (const Point& point : check.check.points) {
    table += fmt::format("{},{},{}\n", name, point.key.bytes.value, point.measured->seconds.value * 1e6);
    sizes.push_back(fmt::format("{} B", point.key.bytes.value));
  }
  Machine machine = check.machine;
  machine.known.clear();
  machine.price.reset();
  std::string source = fmt::format(
      "# yaml-language-server: $schema=../source.schema.json\nalgorithms: native\nbackend: nccl\nmeasured: "
      "{0}.csv\nevaluation:\n  source: \"{1}\"\n  group: \"{0}\"\nsystems:\n",
      group, request.source.value_or("not said"));
  for (const std::string& missing : submission.missing) {
    source += fmt::format("  # Missing: {}\n", missing);
  }
  source +=
      fmt::format("  - name: {}\n{}    ranks: {}\n{}    message_sizes: [{}]\n    machine:\n{}", name,
                  key.collective == Collective::all_reduce
                      ? std::string()
                      : fmt::format("    collective: {}\n", ringside::name(key.collective)),
                  key.ranks,
                  machine.ranks_per_node ? fmt::format("    ranks_per_node: {}\n", *machine.ranks_per_node)
                                         : std::string(),
                  fmt::join(sizes, ", "), indented(to_yaml(machine)));
  write_file(submission.table, table);
  write_file(submission.source, source);
  return submission;
}

}  // namespace ringside::study
