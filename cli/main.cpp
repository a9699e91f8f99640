#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "common/error.hpp"
#include "real/launch/rank_process.hpp"

namespace {

using namespace ringside;  // main is the only code at file scope here

constexpr std::string_view kFooter =
    "Start with:  ringside compare configs/scenarios/quickstart.yaml\n"
    "Exit status: 0 done, 1 ran and failed, 2 bad usage or input, 3 this machine lacks what was asked for, "
    "70 our bug, 130 interrupted";

/// A misspelt command is answered with the nearest right one; CLI11 would only say that it was not expected.
void reject_unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) {
    return;
  }
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  if (std::find(known.begin(), known.end(), arguments.front()) == known.end()) {
    throw Error(ErrorKind::bad_input, unknown_name("command", arguments.front(), known));
  }
}

/// The command that was typed, or the program itself.
const CLI::App& typed_command(const CLI::App& app) {
  const std::vector<const CLI::App*> typed =
      app.get_subcommands([](const CLI::App* command) { return command->parsed(); });
  return typed.empty() ? app : *typed.front();
}

/// Likewise for a misspelt flag.
void reject_unknown_flag(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const CLI::App* owner : {&typed_command(app), &app}) {
    for (const CLI::Option* option : owner->get_options()) {
      for (const std::string& flag : option->get_lnames()) {
        known.push_back("--" + flag);
      }
    }
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& argument : arguments) {
    const std::string flag = argument.substr(0, argument.find('='));
    if (flag.starts_with("--") && !std::binary_search(known.begin(), known.end(), flag)) {
      throw Error(ErrorKind::bad_input, unknown_name("flag", flag, known));
    }
  }
}

/// CLI11's message, but for those that do not say what to do. What it cannot convert are numbers: other values have checks of
/// our own.
std::string what_is_wrong(const CLI::ParseError& error) {
  constexpr std::string_view kUnconverted = "Could not convert: ";
  const std::string text = error.what();
  if (text == "A subcommand is required") {
    return "say which command, such as `ringside compare SCENARIO`";
  }
  return text.starts_with(kUnconverted) ? text.substr(kUnconverted.size()) + ": is not a whole number" : text;
}

/// A standard stream that is closed would be the number of the next file that is opened, and errors would end up in it.
/// Standard output is opened such that writing to it still fails.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) {
      ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

int run(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "rank") {
    return run_rank_process(std::span<const std::string>(arguments).subspan(1));
  }

  CLI::App app("ringside: is ring all_reduce faster here, and what will it cost there?", "ringside");
  app.footer(std::string(kFooter));
  app.set_version_flag("--version", std::string("ringside ") + RINGSIDE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();

  cli::CommonOptions common;
  for (int i = 0; i < argc; ++i) {
    common.command_line += fmt::format("{}{}", i == 0 ? "" : " ", cli::for_a_shell(argv[i]));
  }
  cli::add_common(app, common);
  cli::add_compare(app, common);
  cli::add_predict(app, common);
  cli::add_measure(app, common);
  cli::add_calibrate(app, common);
  cli::add_plan(app, common);
  cli::add_evaluate(app, common);
  cli::add_check(app, common);
  cli::add_import(app, common);
  cli::add_submit(app, common);
  cli::add_show(app, common);
  cli::add_trace(app, common);
  cli::add_list(app, common);
  cli::add_doctor(app, common);

  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    command->footer("Also: --output DIR, --format table|json, --quiet, --seed N (see ringside --help)");
  }
  reject_unknown_command(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
        (!arguments.empty() && typed_command(app).get_parent() == nullptr)) {
      reject_unknown_flag(app, arguments);
    }
    const CLI::App& command = typed_command(app);
    cli::print_error(fmt::format("ringside: {}\nTry 'ringside{}{} --help'.", what_is_wrong(error),
                                 &command == &app ? "" : " ", &command == &app ? "" : command.get_name()));
    return exit_status(ErrorKind::bad_input);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Who started this program may ignore its children; those of this program are waited for.
  std::signal(SIGCHLD, SIG_DFL);
  // A file that may not grow is an error to report, with its name, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  open_standard_streams();
  try {
    const int status = run(argc, argv);
    ringside::cli::finish_output();
    return status;
  } catch (const ringside::Error& error) {
    ringside::cli::print_error(fmt::format("ringside: {}", error.what()));
    return ringside::exit_status(error.kind());
  } catch (const std::bad_alloc&) {
    ringside::cli::print_error("ringside: there is not enough memory for this");
    return ringside::exit_status(ringside::ErrorKind::environment);
  } catch (const std::system_error& error) {
    // Threads and processes that are not granted.
    ringside::cli::print_error(fmt::format("ringside: the system refuses: {}", error.what()));
    return ringside::exit_status(ringside::ErrorKind::environment);
  } catch (const ringside::Bug& bug) {
    ringside::cli::print_error(fmt::format("ringside: this is a bug of ringside: {}", bug.what()));
  } catch (const std::exception& error) {
    ringside::cli::print_error(
        fmt::format("ringside: this is a bug of ringside, an unexpected error: {}", error.what()));
  }
  return ringside::kExitBug;
}
