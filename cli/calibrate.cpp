#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/job.hpp"
#include "common/error.hpp"

namespace ringside::cli {
namespace {

struct CalibrateFlags {
  std::string machine;
  std::string backend = "auto";
  std::vector<int> ranks = {2, 4};
  LaunchFlags launch;
};

template <typename T, typename Format>
std::string with_interval(const T& value, const std::optional<Interval>& interval, Format make) {
  const std::string text = format(value);
  return interval ? fmt::format("{}  (95 %: {} … {})", text, format(make(interval->low)),
                                format(make(interval->high)))
                  : text;
}

void print_calibrated(const Calibrated& calibrated) {
  print_line(fmt::format("latency    {}", with_interval(calibrated.latency, calibrated.latency_interval,
                                                        [](double value) { return Seconds{value}; })));
  print_line(fmt::format("bandwidth  {}", with_interval(calibrated.bandwidth, calibrated.bandwidth_interval,
                                                        [](double value) { return BytesPerSecond{value}; })));
  print_line(fmt::format("reduction  {}", with_interval(calibrated.reduction, calibrated.reduction_interval,
                                                        [](double value) { return SecondsPerByte{value}; })));
  if (calibrated.cores) {
    print_line(fmt::format("cores      {}, shared by all ranks", *calibrated.cores));
  }
  print_line();

  std::vector<int> ranks;
  for (const ShiftPoint& shift : calibrated.shifts) {
    ranks.push_back(shift.ranks);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::vector<std::string> header = {">size", ">one message alone"};
  for (const int n : ranks) {
    header.push_back(fmt::format(">{} ranks shift", n));
  }
  std::vector<std::vector<std::string>> rows;
  for (const TransferPoint& transfer : calibrated.transfers) {
    std::vector<std::string> row = {format(transfer.bytes), format(transfer.seconds)};
    for (const int n : ranks) {
      const auto shift = std::find_if(
          calibrated.shifts.begin(), calibrated.shifts.end(),
          [&](const ShiftPoint& point) { return point.ranks == n && point.bytes == transfer.bytes; });
      row.push_back(shift == calibrated.shifts.end() ? "–" : format(shift->seconds));
    }
    rows.push_back(std::move(row));
  }
  print(table(header, rows));
}

void run(const CalibrateFlags& flags, const CommonOptions& common) {
  const auto asked = parse_name<Backend>(flags.backend);
  if (!asked) {
    throw Error(ErrorKind::bad_input, unknown_name("--backend", flags.backend, names_of<Backend>()));
  }
  if (std::any_of(flags.ranks.begin(), flags.ranks.end(), [](int ranks) { return ranks < 2; })) {
    throw Error(ErrorKind::bad_input, "--ranks: probes need at least 2 ranks");
  }
  std::optional<Machine> described;
  if (!flags.machine.empty()) {
    described = load_machine(flags.machine);
  }
  Progress progress(common.quiet);
  const Backend backend = measuring_backend(*asked, progress);
  const std::filesystem::path directory =
      output_directory(common, described ? described->name : std::string("this-machine"));
  const std::filesystem::path file = directory / "machine.yaml";
  const Machine machine = calibrate({.launch = launch_options(flags.launch, backend),
                                     .budget = parse_seconds(flags.launch.calibrate_time),
                                     .ranks = flags.ranks,
                                     .file = file,
                                     .described = described},
                                    progress);
  if (common.format == OutputFormat::json) {
    const Calibrated& calibrated = *machine.calibrated;
    print_line(fmt::format(
        R"({{"record":"calibration","latency":{},"bandwidth":{},"reduction":{},"file":"{}"}})",
        calibrated.latency.value, calibrated.bandwidth.value, calibrated.reduction.value, file.string()));
    return;
  }
  print_calibrated(*machine.calibrated);
  print_line();
  print_line(fmt::format("machine file: {}  (use it as `machine:` of a scenario)", file.string()));
}

}  // namespace

void add_calibrate(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "calibrate", "Probe this machine point to point: latency, bandwidth, reduction → a machine file");
  auto flags = std::make_shared<CalibrateFlags>();
  command->add_option("MACHINE", flags->machine, "Machine file to add the measured numbers to");
  command->add_option("--backend", flags->backend, "auto or gloo")->capture_default_str();
  command->add_option("--ranks", flags->ranks, "Numbers of ranks that shift at once, such as 2,4")
      ->delimiter(',')
      ->capture_default_str();
  add_launch_flags(*command, flags->launch);
  add_calibrate_flags(*command, flags->launch);
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
