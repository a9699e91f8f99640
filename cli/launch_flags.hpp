#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/ranks/launch.hpp"

namespace CLI {
class App;
}

namespace ringside::cli {

/// Flags about ranks on this machine, as typed.
struct LaunchFlags {
  std::string timeout = "60 s";
  std::string time_per_point = "0.5 s";
  std::string calibrate_time = "15 s";
  std::optional<std::string> wrap;
  std::optional<std::string> interface;
  std::optional<std::string> rendezvous;
  std::optional<std::string> backend;
  int ranks_per_gpu = 1;
  bool no_machine_tuning = false;
  std::vector<std::string> given;  ///< As of typed_flags().
};

/// Which ranks, and where they meet: what every command that starts ranks takes.
void add_launch_flags(CLI::App& command, LaunchFlags& flags);
/// `--time-per-point`, for what measures points.
void add_point_flags(CLI::App& command, LaunchFlags& flags);
/// `--calibrate-time`, for what may probe this machine.
void add_calibrate_flags(CLI::App& command, LaunchFlags& flags);

/// What was typed. Throws Error{bad_input} for a backend that nobody knows.
study::LaunchChoices launch_choices(const LaunchFlags& flags);

/// The flags of a command that were typed, such as `--wrap`.
std::vector<std::string> typed_flags(const CLI::App& command);

/// Throws Error{bad_input} for a typed flag that is not in `used`; `why` ends the sentence.
void refuse_all_but(const std::vector<std::string>& typed, std::initializer_list<std::string_view> used,
                    std::string_view why);

}  // namespace ringside::cli
