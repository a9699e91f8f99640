#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "sim/mpi/rules.hpp"

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
    throw bad_input(
        "native is whatever {}'s own {} does; there is no schedule of it to show (rules of MPI "
        "libraries: --backend mpi)",
        name(row.backend), name(flags.call.collective));
  }
  if (!flags.library.empty()) {
    return flags.library;
  }
  if (const std::optional<std::string> missing = row.unavailable()) {
    throw Error(ErrorKind::bad_input, "say whose rules, such as --library 'Open MPI 4.1.4': " + *missing);
  }
  return row.library_version();
}

void show_native(Flags flags, const CommonOptions& common) {
  const std::string library = library_named(flags);
  MpiCall& call = flags.call;
  call.ranks_per_node = call.ranks_per_node == 0 ? call.ranks : std::min(call.ranks, call.ranks_per_node);
  Rows rows;
  for (const auto& [from, algorithm, predicted_as] : mpi_switches(library, call)) {
    if (common.format == OutputFormat::json) {
      print_record({{"record", "native"},
                    {"library", library},
                    {"collective", name(call.collective)},
                    {"ranks", call.ranks},
                    {"from_bytes", from.value},
                    {"algorithm", algorithm},
                    {"predicted_as", predicted_as.empty() ? algorithm : predicted_as}});
    }
    rows.push_back({format(from), algorithm, predicted_as.empty() ? "itself" : predicted_as});
  }
  if (common.format == OutputFormat::table) {
    print_line("{}'s own {} on {} ranks, by its source (nothing forced):\n", library, name(call.collective),
               call.ranks);
    print_table({{">from", "it runs", "predicted as"}, rows});
  }
}

}  // namespace

void add_show_native(CLI::App& app, CommonOptions& common) {
  auto* command =
      add_mode(app, "show native", "Which algorithm an MPI library chooses, and where it switches");
  auto flags = std::make_shared<Flags>();
  add_name<Backend>(*command, "--backend", flags->backend, "mpi");
  command->add_option("--library", flags->library, "Such as 'MPICH 4.0.2' (default: the installed one)");
  add_name<Collective>(*command, "--collective", flags->call.collective, "Default: all_reduce");
  command->add_option("--ranks", flags->call.ranks, "Number of ranks")
      ->required()
      ->check(CLI::Range(2, 131072));
  command->add_option("--ranks-per-node", flags->call.ranks_per_node, "Default: all on one node")
      ->check(CLI::Range(1, 131072));
  command->footer("show native --backend mpi --ranks 8");
  command->callback([flags, &common] { show_native(*flags, common); });
}

}  // namespace ringside::cli
