#pragma once

#include "plots/charts/charts.hpp"
#include "study/inputs/invocation.hpp"

namespace CLI {
class App;
}

/// One function per command: it adds its subcommand to the app; the subcommand's callback does the work.
namespace ringside::cli {

inline constexpr int kInterrupted = 130;  ///< The exit status after SIGINT.

enum class OutputFormat { table, json };

/// Flags that every command takes.
struct CommonOptions : study::Invocation {
  OutputFormat format = OutputFormat::table;
  bool quiet = false;
  bool svg = false;  ///< Charts as SVG beside PNG.
  bool pdf = false;  ///< Likewise as PDF.
  plots::ChartSize chart_size = plots::ChartSize::screen;
};

/// The flags of CommonOptions; they may stand before or after the command.
void add_common(CLI::App& app, CommonOptions& common);

void add_compare(CLI::App& app, CommonOptions& common);
void add_predict(CLI::App& app, CommonOptions& common);
void add_measure(CLI::App& app, CommonOptions& common);
void add_calibrate(CLI::App& app, CommonOptions& common);
void add_check(CLI::App& app, CommonOptions& common);
void add_submit(CLI::App& app, CommonOptions& common);
void add_import(CLI::App& app, CommonOptions& common);
void add_report(CLI::App& app, CommonOptions& common);
void add_show(CLI::App& app, CommonOptions& common);
void add_show_native(CLI::App& app, CommonOptions& common);
void add_trace(CLI::App& app, CommonOptions& common);
void add_tune(CLI::App& app, CommonOptions& common);
void add_plan(CLI::App& app, CommonOptions& common);
void add_list(CLI::App& app, CommonOptions& common);
void add_doctor(CLI::App& app, CommonOptions& common);

}  // namespace ringside::cli
