#include "cli/launch_flags.hpp"

#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "common/error.hpp"

namespace ringside::cli {

void add_launch_flags(CLI::App& command, LaunchFlags& flags) {
  command.add_option("--timeout", flags.timeout, "Deadline of every single wait for a rank")
      ->check(time_problem)
      ->capture_default_str();
  command.add_option(
      "--wrap", flags.wrap,
      "Command in front of each rank, such as 'ip netns exec host{rank}' or 'taskset -c {rank}'");
  command.add_option("--interface", flags.interface, "Network interface of the ranks (default: loopback)");
  command.add_option(
      "--rendezvous", flags.rendezvous,
      "Where ranks that mpirun, srun or torchrun started meet: file:///path or redis://host:port");
  command.add_option("--backend", flags.backend,
                     "auto, gloo or nccl (default: what the scenario says, or auto)");
  command
      .add_option("--ranks-per-gpu", flags.ranks_per_gpu,
                  "nccl: so many ranks share a GPU, for trying it where GPUs are few; results are marked "
                  "'shared GPU'")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_flag(
      "--no-machine-tuning", flags.no_machine_tuning,
      "Leave the machine as it is: ranks are not bound to cores nor scheduled otherwise than usual, idle "
      "states are not prevented, and messages travel in one piece");
}

void add_point_flags(CLI::App& command, LaunchFlags& flags) {
  command.add_option("--time-per-point", flags.time_per_point, "Measure one point for at most this long")
      ->check(time_problem)
      ->capture_default_str();
}

void add_calibrate_flags(CLI::App& command, LaunchFlags& flags) {
  command.add_option("--calibrate-time", flags.calibrate_time, "Probe this machine for at most this long")
      ->check(time_problem)
      ->capture_default_str();
}

study::LaunchChoices launch_choices(const LaunchFlags& flags) {
  study::LaunchChoices choices{.timeout = parse_seconds(flags.timeout),
                               .time_per_point = parse_seconds(flags.time_per_point),
                               .calibrate_time = parse_seconds(flags.calibrate_time),
                               .wrap = flags.wrap,
                               .interface = flags.interface,
                               .rendezvous = flags.rendezvous,
                               .ranks_per_gpu = flags.ranks_per_gpu,
                               .tune_machine = !flags.no_machine_tuning,
                               .given = flags.given};
  if (flags.backend) {
    choices.backend = parse_name<Backend>(*flags.backend);
    if (!choices.backend) {
      throw Error(ErrorKind::bad_input, unknown_name("--backend", *flags.backend, names_of<Backend>()));
    }
  }
  return choices;
}

std::vector<std::string> typed_flags(const CLI::App& command) {
  std::vector<std::string> typed;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0 && !option->get_positional()) {
      typed.push_back(option->get_name());
    }
  }
  return typed;
}

void refuse_all_but(const std::vector<std::string>& typed, std::initializer_list<std::string_view> used,
                    std::string_view why) {
  std::vector<std::string_view> idle;
  std::copy_if(typed.begin(), typed.end(), std::back_inserter(idle), [&](const std::string& flag) {
    return std::find(used.begin(), used.end(), flag) == used.end();
  });
  study::refuse_idle(typed, idle, why);
}

}  // namespace ringside::cli
