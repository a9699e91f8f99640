#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "sim/engine/mpi_rules.hpp"

namespace ringside::cli {
namespace {

struct Flags {
  std::optional<Backend> backend = {};
  std::string library = {};  ///< Empty: the one that is installed.
  MpiCall call = {.ranks_per_node = 0};
};

std::string library_named(const Flags& flags) {
  const RegisteredBackend& row = registered(flags.backend.value_or(Backend::automatic));
  if (row.software == nullptr) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("native is whatever {}'s own {} does; there is no schedule of it to show (rules of MPI "
                    "libraries: --backend mpi)",
                    name(row.backend), name(flags.call.collective)));
  }
  const std::optional<std::string> missing = flags.library.empty() ? row.unavailable() : std::nullopt;
  if (missing) {
    throw Error(ErrorKind::bad_input,
                fmt::format("say whose rules, such as --library 'Open MPI 4.1.4': {}", *missing));
  }
  return flags.library.empty() ? row.library_version() : flags.library;
}

void show_native(Flags flags, const CommonOptions& common) {
  const std::string library = library_named(flags);
  MpiCall& call = flags.call;
  call.ranks_per_node = call.ranks_per_node == 0 ? call.ranks : std::min(call.ranks, call.ranks_per_node);
  const std::variant<std::vector<MpiSwitch>, std::string> outcome = mpi_switches(library, call);
  if (const auto* reason = std::get_if<std::string>(&outcome)) {
    throw Error(ErrorKind::bad_input, *reason);
  }
  Rows rows;
  for (const auto& [from, choice] : std::get<std::vector<MpiSwitch>>(outcome)) {
    if (common.format == OutputFormat::json) {
      print_record({{"record", "native"},
                    {"library", library},
                    {"collective", name(call.collective)},
                    {"ranks", call.ranks},
                    {"from_bytes", from.value},
                    {"algorithm", choice.name},
                    {"ours", choice.ours}});
    }
    rows.push_back({format(from), choice.name, choice.ours.empty() ? "not predicted" : choice.ours});
  }
  if (common.format == OutputFormat::table) {
    print_line(fmt::format("{}'s own {} on {} ranks, by its source (nothing forced):\n", library,
                           name(call.collective), call.ranks));
    print(table({">from", "it runs", "predicted as"}, rows));
  }
}

}  // namespace

void add_show_native(CLI::App& app, CommonOptions& common) {
  auto* command =
      add_mode(app, "show native", "Which algorithm an MPI library chooses, and where it switches");
  auto flags = std::make_shared<Flags>();
  add_name<Backend>(*command, "--backend", flags->backend, "mpi");
  command->add_option("--library", flags->library, "Such as 'MPICH 4.0.2' (default: the installed one)");
  add_name<Collective>(*command, "--collective", flags->call.collective, "Whose choice")
      ->default_str(std::string(name(flags->call.collective)));
  command->add_option("--ranks", flags->call.ranks, "Number of ranks")
      ->required()
      ->check(CLI::Range(2, 65536));
  command->add_option("--ranks-per-node", flags->call.ranks_per_node, "Default: all on one node")
      ->check(CLI::Range(1, 65536));
  command->footer("show native --backend mpi --ranks 8");
  command->callback([flags, &common] { show_native(*flags, common); });
}

}  // namespace ringside::cli
