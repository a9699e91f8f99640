#include "cli/calibrate.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "cli/reports/report.hpp"
#include "common/text.hpp"
#include "study/calibrate.hpp"

namespace ringside::cli {
namespace {

template <typename T, typename Format>
std::string with_interval(const T& value, const std::optional<Interval<double>>& interval, Format make) {
  const std::string text = format(value);
  return interval ? fmt::format("{}  (95 %: {} … {})", text, format(make(interval->low)),
                                format(make(interval->high)))
                  : text;
}

/// `link`: Calibrated or BetweenNodes.
template <typename T>
void print_link(const T& link) {
  print_line("latency    {}",
             with_interval(link.latency, link.latency_interval, [](double value) { return Seconds{value}; }));
  print_line("bandwidth  {}", with_interval(link.bandwidth, link.bandwidth_interval,
                                            [](double value) { return BytesPerSecond{value}; }));
}

/// One value of the pairs as a matrix; NaN where there is none.
template <typename ValueOf>
std::vector<std::vector<double>> matrix_of(const std::vector<PairPoint>& pairs, const ValueOf& value_of) {
  Rank largest = 0;
  for (const PairPoint& pair : pairs) {
    largest = std::max({largest, pair.from, pair.to});
  }
  const auto size = static_cast<std::size_t>(largest) + 1;
  std::vector<std::vector<double>> matrix(
      size, std::vector<double>(size, std::numeric_limits<double>::quiet_NaN()));
  for (const PairPoint& pair : pairs) {
    matrix[static_cast<std::size_t>(pair.from)][static_cast<std::size_t>(pair.to)] = value_of(pair);
  }
  return matrix;
}

void print_pairs(const std::vector<PairPoint>& pairs) {
  if (pairs.empty()) {
    return;
  }
  Rows rows;
  for (const PairPoint& pair : pairs) {
    rows.push_back({std::to_string(pair.from), std::to_string(pair.to), format(pair.latency),
                    format(pair.bandwidth), format(pair.both_ways)});
  }
  print_line();
  print_table({{">from", ">to", ">latency", ">one way", ">both ways, each"}, rows});
}

void draw_pairs(const Machine& machine, const std::filesystem::path& file, const CommonOptions& common,
                Progress& progress) {
  const plots::ChartContext context = {.title = machine.name,
                                       .machine = chart_label(machine),
                                       .source = file.string(),
                                       .output_directory = file.parent_path(),
                                       .size = common.chart_size};
  for (const plots::LabelledMatrix& map : pair_maps(machine.calibrated->pairs)) {
    draw_charts(plots::heat_map(map, context), context, common, progress);
  }
}

void run(study::CalibrateRequest request, bool no_charts, const CommonOptions& common) {
  Progress progress(common.quiet);
  request.launch.ranks.remark = [&](const std::string& sentence) { progress.note(sentence); };
  const std::optional<study::Calibration> calibration =
      study::calibrate(request, common, progress.observer());
  if (!calibration) {
    return;
  }
  const auto& [machine, file] = *calibration;
  if (common.format == OutputFormat::json) {
    const Calibrated& calibrated = *machine.calibrated;
    print_record({{"record", "calibration"},
                  {"latency", calibrated.latency.value},
                  {"bandwidth", calibrated.bandwidth.value},
                  {"reduction", calibrated.reduction.value},
                  {"file", file.string()}});
    return;
  }
  print_calibrated(*machine.calibrated);
  print_line();
  print_line("machine file: {}  (use it as `machine:` of a scenario)", file.string());
  if (!machine.calibrated->pairs.empty() && !no_charts) {
    print_line("charts:");
    draw_pairs(machine, file, common, progress);
  }
}

}  // namespace

void print_calibrated(const Calibrated& calibrated) {
  if (calibrated.between_nodes) {
    print_line("between two nodes");
    print_link(*calibrated.between_nodes);
    print_line("at once    {} of a node at this bandwidth",
               count_of(calibrated.between_nodes->messages, "message"));
    if (const double factor = calibrated.between_nodes->native_exchange; factor > 1) {
      print_line("native     exchanges of long messages take {:.2g} times as long", factor);
    }
    print_line();
    print_line("within a node");
  }
  print_link(calibrated);
  print_line("reduction  {}", with_interval(calibrated.reduction, calibrated.reduction_interval,
                                            [](double value) { return SecondsPerByte{value}; }));
  if (calibrated.cores) {
    print_line("cores      {}, shared by all ranks", *calibrated.cores);
  }
  print_line();

  std::vector<Column<CurvePoint>> columns = {
      {">size", [](const CurvePoint& message) { return format(message.bytes); }},
      {">one message alone", [](const CurvePoint& message) { return format(Seconds{message.value}); }}};
  for (const Curve& curve : calibrated.curves) {
    if (curve.kind == ProbeKind::neighbour_exchange && curve.messages == 1) {
      columns.push_back(
          {fmt::format(">{} ranks exchange", curve.ranks), [&](const CurvePoint& message) {
             const auto same = std::ranges::find(curve.points, message.bytes, &CurvePoint::bytes);
             return same == curve.points.end() ? std::string(kAbsent) : format(Seconds{same->value});
           }});
    }
  }
  const Curve* alone = find_curve(calibrated.curves, ProbeKind::ping_pong);
  print_table(table_of(columns, alone == nullptr ? std::vector<CurvePoint>{} : alone->points));
  print_pairs(calibrated.pairs);
}

std::vector<plots::LabelledMatrix> pair_maps(const std::vector<PairPoint>& pairs) {
  const auto map = [](const std::string& name, const std::string& subtitle, const std::string& unit,
                      std::vector<std::vector<double>> values) {
    std::vector<std::string> ranks;
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      ranks.push_back(std::to_string(rank));
    }
    return plots::LabelledMatrix{.name = name,
                                 .subtitle = subtitle,
                                 .row_title = "from rank",
                                 .column_title = "to rank",
                                 .rows = ranks,
                                 .columns = ranks,
                                 .values = std::move(values),
                                 .value_title = unit};
  };
  return {map("pair_latency", "latency of a small message, one way", "microseconds",
              matrix_of(pairs, [](const PairPoint& pair) { return pair.latency.value * 1e6; })),
          map("pair_bandwidth", "bandwidth of large messages, one way", "GB/s",
              matrix_of(pairs, [](const PairPoint& pair) { return pair.bandwidth.value / 1e9; })),
          map("pair_bandwidth_both_ways", "bandwidth of large messages, each way, both ways at once", "GB/s",
              matrix_of(pairs, [](const PairPoint& pair) { return pair.both_ways.value / 1e9; }))};
}

void add_calibrate(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "calibrate", "Probe this machine point to point: latency, bandwidth, reduction → a machine file");
  struct Flags {
    bool no_charts = false;
    study::CalibrateRequest request;
  };
  auto flags = std::make_shared<Flags>();
  study::CalibrateRequest& request = flags->request;
  command->add_option("MACHINE", request.machine, "Machine file to add the measured numbers to");
  command
      ->add_option("--ranks", request.ranks,
                   "Numbers of ranks that send to their neighbours at once, such as 2,4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_flag("--pairs", request.pairs, "Also probe every pair of ranks, as nccl always does");
  command->add_flag("--no-charts", flags->no_charts, "Do not draw the heat maps of the pairs");
  add_bytes(*command, "--max-bytes", request.max_bytes, "Largest message");
  add_launch_flags(*command, request.launch);
  add_calibrate_flags(*command, request.launch);
  command->footer("calibrate --ranks 4");
  command->callback([flags, &common] { run(flags->request, flags->no_charts, common); });
}

}  // namespace ringside::cli
