#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "common/error.hpp"
#include "common/units.hpp"

namespace ringside::cli {
namespace {

template <typename Parse>
std::string problem(Parse parse, const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// CLI11 would take -1 for 2^64 - 1.
std::string seed_problem(const std::string& text) {
  return text.starts_with('-') ? "'" + text + "' is not a whole number from 0 on" : std::string{};
}

}  // namespace

std::string time_problem(const std::string& text) { return problem(parse_seconds, text); }

std::string size_problem(const std::string& text) { return problem(parse_bytes, text); }

void add_common(CLI::App& app, CommonOptions& common) {
  const std::map<std::string, OutputFormat> formats = {{"table", OutputFormat::table},
                                                       {"json", OutputFormat::json}};
  app.add_option("--output", common.output, "Folder for results and charts (default: out/<scenario name>)");
  app.add_option_function<std::string>(
         "--format",
         [&common, formats](const std::string& text) {
           const auto found = formats.find(text);
           if (found == formats.end()) {
             throw CLI::ValidationError("--format", "'" + text + "' is neither table nor json");
           }
           common.format = found->second;
         },
         "table for people, json for JSON Lines on standard output")
      ->default_str("table");
  app.add_flag("--quiet", common.quiet, "No progress and no notes on standard error");
  app.add_flag("--svg", common.svg, "Draw charts as SVG, too, beside PNG");
  app.add_option("--seed", common.seed, "Seed of the input values")
      ->check(seed_problem)
      ->capture_default_str();
}

}  // namespace ringside::cli
