#include "cli/reports/show_native.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "sim/engine/mpi_rules.hpp"

namespace ringside::cli {
namespace {

std::string library_named(const NativeFlags& flags) {
  const Backend backend = flags.backend.value_or(Backend::automatic);
  const RegisteredBackend& row = registered(backend);
  if (row.software == nullptr) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("native is whatever {}'s own {} does; there is no schedule of it to show (rules of MPI "
                    "libraries: --backend mpi)",
                    name(row.backend), name(flags.collective)));
  }
  if (flags.library) {
    return *flags.library;
  }
  if (const std::optional<std::string> reason = row.unavailable()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("say whose rules, such as --library 'Open MPI 4.1.4': {}", *reason));
  }
  return row.library_version();
}

}  // namespace

void show_native(const NativeFlags& flags, const CommonOptions& common) {
  const std::string library = library_named(flags);
  const std::variant<std::vector<MpiSwitch>, std::string> outcome = mpi_switches(
      library, {.collective = flags.collective,
                .ranks = flags.ranks,
                .ranks_per_node = std::min(flags.ranks, flags.ranks_per_node.value_or(flags.ranks))});
  if (const auto* reason = std::get_if<std::string>(&outcome)) {
    throw Error(ErrorKind::bad_input, *reason);
  }
  Rows rows;
  for (const MpiSwitch& one : std::get<std::vector<MpiSwitch>>(outcome)) {
    if (common.format == OutputFormat::json) {
      print_record({{"record", "native"},
                    {"library", library},
                    {"collective", name(flags.collective)},
                    {"ranks", flags.ranks},
                    {"from_bytes", one.from.value},
                    {"algorithm", one.choice.name},
                    {"ours", one.choice.ours}});
    }
    rows.push_back(
        {format(one.from), one.choice.name, one.choice.ours.empty() ? "not predicted" : one.choice.ours});
  }
  if (common.format == OutputFormat::table) {
    print_line(fmt::format("{}'s own {} on {} ranks, by its source (nothing forced):", library,
                           name(flags.collective), flags.ranks));
    print_line();
    print(table({">from", "it runs", "predicted as"}, rows));
  }
}

}  // namespace ringside::cli
