#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/units.hpp"
#include "scenario/scenario.hpp"
#include "study/logs/check.hpp"
#include "study/ranks/launch.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Options that are read straight into what a study takes.
namespace ringside::cli {

/// A subcommand of two words (`check live`): a mode that is a command of its own, with its own flags.
CLI::App* add_mode(CLI::App& app, const std::string& words, const std::string& help);

/// An option whose text `read` takes, or refuses with an Error.
CLI::Option* add_read(CLI::App& command, const std::string& flag, const std::string& help,
                      const std::function<void(const std::string&)>& read);

CLI::Option* add_seconds(CLI::App& command, const std::string& flag, Seconds& value, const std::string& help);
CLI::Option* add_bytes(CLI::App& command, const std::string& flag, Bytes& value, const std::string& help);
CLI::Option* add_bytes(CLI::App& command, const std::string& flag, std::optional<Bytes>& value,
                       const std::string& help);

/// One of the names of an enumeration; `Value` is it, or an optional of it.
template <typename Name, typename Value>
CLI::Option* add_name(CLI::App& command, const std::string& flag, Value& value, const std::string& help) {
  return add_read(command, flag, help, [&value, flag](const std::string& text) {
    const std::optional<Name> known = parse_name<Name>(text);
    if (!known) {
      throw Error(ErrorKind::bad_input, unknown_name(flag, text, names_of<Name>()));
    }
    value = *known;
  });
}

/// Which ranks, and where they meet: what every command that starts ranks takes.
void add_launch_flags(CLI::App& command, study::LaunchChoices& choices);
void add_backend_flag(CLI::App& command, study::LaunchChoices& choices, const std::string& help);
/// `--time-per-point`, for what measures points.
void add_point_flags(CLI::App& command, study::LaunchChoices& choices);
/// `--calibrate-time`, for what may probe this machine.
void add_calibrate_flags(CLI::App& command, study::LaunchChoices& choices);
/// What says which machine a log is of, where it does not.
void add_machine_flags(CLI::App& command, study::CheckRequest& request);
/// `--no-limit`, for what reads logs of any length.
void add_no_limit_flag(CLI::App& command, ImportDefaults& defaults);
/// What joins the nodes of a log.
void add_network_flag(CLI::App& command, study::CheckRequest& request);

/// Options that something else can leave nothing to do, as --help groups them.
inline constexpr const char* kRanksGroup = "Ranks";
inline constexpr const char* kPointsGroup = "Measuring";
inline constexpr const char* kProbesGroup = "Probing this machine";
inline constexpr const char* kReferenceGroup = "What it is compared with";

/// A typed option of the group, such as `--wrap`.
std::optional<std::string> typed_in(const CLI::App& command, std::string_view group);
/// Throws Error{bad_input} for one; `why` ends the sentence.
void refuse_group(const CLI::App& command, std::string_view group, std::string_view why);

/// Throws Error{bad_input} where a scenario leaves nothing to do; `unmeasured`: why no point is measured.
void refuse_idle(const CLI::App& command, const Scenario& scenario,
                 std::optional<std::string_view> unmeasured = {});

}  // namespace ringside::cli
