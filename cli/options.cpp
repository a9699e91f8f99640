#include "cli/options.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/colour.hpp"
#include "cli/commands.hpp"
#include "common/failures.hpp"
#include "common/spellings.hpp"

namespace ringside::cli {
namespace {

/// CLI11 would take -1 for 2^64 - 1.
std::string seed_problem(const std::string& text) {
  return text.starts_with('-') ? "'" + text + "' is not a whole number from 0 on" : std::string{};
}

/// An option whose value is a quantity: what is wrong with it stands behind its name.
template <typename Parse, typename Value>
CLI::Option* add_quantity(CLI::App& command, const std::string& flag, Parse parse, Value& value,
                          const std::string& help) {
  return add_read(command, flag, help, [flag, parse, &value](const std::string& text) {
    try {
      value = parse(text);
    } catch (const Error& error) {
      throw CLI::ValidationError(flag, error.what());
    }
  });
}

}  // namespace

CLI::App* add_mode(CLI::App& app, const std::string& words, const std::string& help) {
  CLI::App* mode = app.add_subcommand("mode", help);  // CLI11 takes no blank in the name of a new one.
  return mode->name(words);
}

CLI::Option* add_read(CLI::App& command, const std::string& flag, const std::string& help,
                      const std::function<void(const std::string&)>& read) {
  return command.add_option_function<std::string>(flag, read, help);
}

CLI::Option* add_seconds(CLI::App& command, const std::string& flag, Seconds& value,
                         const std::string& help) {
  return add_quantity(command, flag, parse_seconds, value, help)->default_str(format(value));
}

CLI::Option* add_bytes(CLI::App& command, const std::string& flag, Bytes& value, const std::string& help) {
  return add_quantity(command, flag, parse_bytes, value, help)->default_str(format(value));
}

CLI::Option* add_bytes(CLI::App& command, const std::string& flag, std::optional<Bytes>& value,
                       const std::string& help) {
  return add_quantity(command, flag, parse_bytes, value, help);
}

void add_common(CLI::App& app, CommonOptions& common) {
  app.add_option("--output", common.output, "Folder for results and charts (default: out/<scenario name>)")
      ->check([](const std::string& text) {
        return text.empty() ? "is empty; name a folder for results" : std::string();
      });
  add_read(app, "--format", "table for people, json for JSON Lines on standard output",
           [&common](const std::string& text) {
             if (text != "table" && text != "json") {
               throw CLI::ValidationError("--format", "'" + text + "' is neither table nor json");
             }
             common.format = text == "json" ? OutputFormat::json : OutputFormat::table;
           })
      ->default_str("table");
  app.add_flag("--quiet", common.quiet, "No progress and no notes on standard error");
  add_read(app, "--color", "auto, always or never; auto: on a terminal, unless NO_COLOR is set",
           choose_colour)
      ->default_str("auto");
  app.add_flag("--svg", common.svg, "Draw charts as SVG in addition to PNG");
  app.add_flag("--pdf", common.pdf, "Draw charts as PDF in addition to PNG");
  add_read(app, "--chart-size", "Charts for the screen, or for a page (17 cm) or column (8.5 cm) of a paper",
           [&common](const std::string& text) {
             const auto size = parse_name<plots::ChartSize>(text);
             if (!size) {
               throw CLI::ValidationError("--chart-size",
                                          "'" + text + "' is none of screen, page and column");
             }
             common.chart_size = *size;
           })
      ->default_str("screen");
  app.add_option("--seed", common.seed, "Seed of the input values")
      ->check(seed_problem)
      ->capture_default_str();
}

void add_launch_flags(CLI::App& command, study::LaunchChoices& choices) {
  const auto timeout_of = [](const std::string& text) {
    const Seconds value = parse_seconds(text);
    if (value.value < 0.1 || value.value > 86400) {
      throw bad_input("{}: allowed is 100 ms to 86400 s", format(value));
    }
    return std::chrono::milliseconds(std::llround(value.value * 1e3));
  };
  add_quantity(command, "--timeout", timeout_of, choices.ranks.timeout,
               "Deadline of each wait for another rank")
      ->default_str("60 s")
      ->group(kRanksGroup);
  const auto add = [&](const char* flag, std::optional<std::string>& value, const char* help) {
    command.add_option(flag, value, help)->group(kRanksGroup);
  };
  add("--wrap", choices.ranks.wrap, "Command prefix of ranks, such as 'taskset -c {rank}'");
  add("--interface", choices.ranks.interface, "Network interface of the ranks (default: loopback)");
  add("--rendezvous", choices.ranks.rendezvous,
      "Where ranks of mpirun or srun meet: file:///path, redis://host:port, env://");
  add_backend_flag(command, choices, "auto, gloo, nccl, shm, mpi (default: the scenario's)");
  command
      .add_option("--ranks-per-gpu", choices.ranks.gpu.ranks_per_gpu,
                  "nccl: ranks that share each GPU; results are marked 'shared GPU'")
      ->check(CLI::Range(1, 64))
      ->capture_default_str()
      ->group(kRanksGroup);
  command
      .add_flag_callback(
          "--no-machine-tuning", [&choices] { choices.ranks.tune_machine = false; },
          "No binding to cores, no batch scheduling, no idle states prevented, no segments")
      ->group(kRanksGroup);
}

void add_backend_flag(CLI::App& command, study::LaunchChoices& choices, const std::string& help) {
  add_name<Backend>(command, "--backend", choices.backend, help)->group(kRanksGroup);
}

void add_point_flags(CLI::App& command, study::LaunchChoices& choices) {
  add_seconds(command, "--time-per-point", choices.time_per_point, "Longest time for one point")
      ->group(kPointsGroup);
}

void add_calibrate_flags(CLI::App& command, study::LaunchChoices& choices) {
  add_seconds(command, "--calibrate-time", choices.calibrate_time, "Longest time for all probes")
      ->group(kProbesGroup);
}

void add_machine_flags(CLI::App& command, study::CheckRequest& request) {
  auto* machine = command.add_option("--machine", request.machine, "A name of `list machines`, or a file");
  auto* topology = command.add_option("--topology", request.topology,
                                      "Output of `nvidia-smi topo -m`, or NCCL's topology XML");
  auto* gpu =
      command.add_option("--gpu", request.gpu, "GPUs of a node, if the log does not say, such as '8 x B200'");
  for (CLI::Option* option : {machine, topology, gpu}) {
    option->group(kReferenceGroup);
  }
  machine->excludes(topology);
}

void add_no_limit_flag(CLI::App& command, ImportDefaults& defaults) {
  command.add_flag_callback(
      "--no-limit", [&defaults] { defaults.most_bytes = std::numeric_limits<std::uint64_t>::max(); },
      "Read logs to the end, even above 1 GiB");
}

void add_network_flag(CLI::App& command, study::CheckRequest& request) {
  command.add_option("--network", request.network, "NICs of a node, such as '4 x 200 Gb/s infiniband'")
      ->group(kReferenceGroup);
}

std::optional<std::string> typed_in(const CLI::App& command, std::string_view group) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0 && option->get_group() == group) {
      return option->get_name();
    }
  }
  return std::nullopt;
}

void refuse_group(const CLI::App& command, std::string_view group, std::string_view why) {
  if (const auto flag = typed_in(command, group)) {
    throw bad_input("{} has no effect here: {}", *flag, why);
  }
}

void refuse_idle(const CLI::App& command, const Scenario& scenario,
                 std::optional<std::string_view> unmeasured) {
  if (scenario.machine) {
    refuse_group(command, kProbesGroup, "`machine:` describes the machine, and nothing is probed");
  }
  if (unmeasured) {
    refuse_group(command, kPointsGroup, *unmeasured);
  }
  if (unmeasured && scenario.machine) {
    refuse_group(command, kRanksGroup, fmt::format("{}, and no rank is started", *unmeasured));
  }
}

}  // namespace ringside::cli
