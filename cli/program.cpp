#include "cli/program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/console.hpp"
#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "real/launch/external/external_rank.hpp"

namespace ringside::cli {
namespace {

constexpr std::string_view kStatuses =
    "Exit status: 0 done, 1 ran and failed, 2 bad usage or input, 3 this machine lacks what was asked for, "
    "70 our bug, 130 interrupted";

void reject_moved(const Program& program, const std::string& word) {
  for (const auto& [was, now] : program.moved) {
    if (word == was) {
      throw bad_input("{} has moved: type `{}`", was, now);
    }
  }
}

/// A misspelt command is answered with the nearest right one; CLI11 would only say that it was not expected.
void reject_unknown_command(const Program& program, const CLI::App& app,
                            const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) {
    return;
  }
  reject_moved(program, arguments.front());
  const std::vector<std::string> known = mapped(app.get_subcommands([](const CLI::App*) { return true; }),
                                                [](const CLI::App* command) { return command->get_name(); });
  if (std::ranges::find(known, arguments.front()) == known.end()) {
    throw Error(ErrorKind::bad_input, unknown_name("command", arguments.front(), known));
  }
}

/// The command that was typed, or the program itself.
const CLI::App& typed_command(const CLI::App& app) {
  const std::vector<const CLI::App*> typed =
      app.get_subcommands([](const CLI::App* command) { return command->parsed(); });
  return typed.empty() ? app : *typed.front();
}

std::set<std::string> flags_of(const CLI::App& command) {
  std::set<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& flag : option->get_lnames()) {
      flags.insert("--" + flag);
    }
  }
  return flags;
}

/// Likewise for a misspelt flag, and for one of another mode of the command, such as of `check live`.
void reject_unknown_flag(const Program& program, const CLI::App& app,
                         const std::vector<std::string>& arguments) {
  const CLI::App& typed = typed_command(app);
  std::set<std::string> known = flags_of(app);
  known.merge(flags_of(typed));
  const auto first_word = [](const CLI::App& command) {
    return command.get_name().substr(0, command.get_name().find(' '));
  };
  for (const std::string& argument : arguments) {
    const std::string flag = argument.substr(0, argument.find('='));
    if (!flag.starts_with("--") || known.contains(flag)) {
      continue;
    }
    for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (first_word(*other) == first_word(typed) && flags_of(*other).contains(flag)) {
        throw bad_input("{0} has no effect here: it is a flag of `{1} {2}`, not of `{1} {3}`", flag,
                        program.name, other->get_name(), typed.get_name());
      }
    }
    reject_moved(program, flag);
    throw Error(ErrorKind::bad_input,
                unknown_name("flag", flag, std::vector<std::string>(known.begin(), known.end())));
  }
}

/// `check live` as the one word that its subcommand is called; `check --live` is how it was typed before.
void join_modes(const CLI::App& app, std::vector<std::string>& arguments) {
  const auto old = std::ranges::find(arguments, "--live");
  if (old != arguments.end() && arguments.front() == "check") {
    *old = "live";
    std::rotate(arguments.begin() + 1, old, old + 1);
  }
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const std::string both = arguments[i] + " " + arguments[i + 1];
    if (!app.get_subcommands([&](const CLI::App* command) { return command->get_name() == both; }).empty()) {
      arguments[i] = both;
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return;
    }
  }
}

/// CLI11's message, but for those that do not say what to do. What it cannot convert are numbers: other
/// values have checks of our own.
std::string what_is_wrong(const Program& program, const CLI::ParseError& error) {
  constexpr std::string_view kUnconverted = "Could not convert: ";
  const std::string text = error.what();
  if (text == "A subcommand is required") {
    return fmt::format("say which command, such as `{} {}`", program.name, program.example);
  }
  return text.starts_with(kUnconverted) ? text.substr(kUnconverted.size()) + ": is not a whole number" : text;
}

/// A standard stream that is closed would be the number of the next file that is opened, and errors would end
/// up in it. Standard output is opened such that writing to it still fails.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) {
      ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

/// Descriptions of flags as wide as the terminal allows. Beside a flag: the kind of its value and its
/// default alone: what a value must be and which flags exclude each other is said to who gets it wrong.
class HelpWithinTerminal final : public CLI::Formatter {
 public:
  HelpWithinTerminal() { column_width(27); }

 private:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped_for_terminal(CLI::Formatter::make_option_desc(option), get_column_width());
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) {
      return {};
    }
    const std::string type = option->get_type_name();
    const std::string& value = option->get_default_str();
    return fmt::format(" {}{}{}", type.substr(0, type.find(':')), value.empty() ? "" : "=", value);
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
    for (auto at = help.find("\n\n\n"); at != std::string::npos; at = help.find("\n\n\n")) {
      help.erase(at, 1);
    }
    return help;
  }
};

/// What is wrong with the input is mostly wrong for all ranks of a machine, and the first to find it says so:
/// the one that gets an address of which there is one for this job and text. The others wait, and so does it:
/// where one ends, mpirun ends all.
void say_once(const std::string& text, const std::function<void(const std::string&)>& say) {
  constexpr useconds_t kUntilAllHaveFoundIt = 500'000;
  std::optional<ExternalRank> rank;
  try {
    rank = external_rank(true);
  } catch (const Error&) {  // Whoever tells wrong numbers cannot tell who is beside whom.
  }
  // torchrun keeps what each rank says apart.
  if (!rank || rank->num_local == 1 || rank->launcher == "torchrun") {
    say(text);
    return;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Names that begin with 0 are in no folder, and free when their process ends.
  const std::string name = fmt::format("ringside {} {} {}", std::hash<std::string>()(text), ::getuid(),
                                       rank->job.empty() ? std::to_string(::getppid()) : rank->job);
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const int open = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool others =
      ::bind(open, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno == EADDRINUSE;
  if (!others) {
    say(text);
  }
  ::usleep(kUntilAllHaveFoundIt);
}

extern "C" void end_by_interrupt(int /*signal*/) { ::_exit(kInterrupted); }

int run(const Program& program, int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (program.rank != nullptr && !arguments.empty() && arguments.front() == "rank") {
    return program.rank(std::span<const std::string>(arguments).subspan(1));
  }
  if (std::signal(SIGINT, end_by_interrupt) == SIG_IGN) {
    std::signal(SIGINT, SIG_IGN);  // As in the background of a script.
  }
  CLI::App app(program.description, program.name);
  app.set_version_flag("--version", fmt::format("{} {}", program.name, RINGSIDE_VERSION));
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpWithinTerminal>());
  app.fallthrough();

  CommonOptions common;
  for (int i = 0; i < argc; ++i) {
    common.command_line += fmt::format("{}{}", i == 0 ? "" : " ", for_a_shell(argv[i]));
  }
  add_common(app, common);
  for (const auto add : program.commands) {
    add(app, common);
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string example = command->get_footer();
    command->footer(fmt::format(
        "{}Also: --output DIR, --format table|json, --quiet, --seed N (see {} --help)",
        example.empty() ? "" : fmt::format("Example:  {} {}\n", program.name, example), program.name));
  }
  app.footer(fmt::format("Start with:  {} {}\n{}", program.name, program.start, kStatuses));
  join_modes(app, arguments);
  reject_unknown_command(program, app, arguments);
  try {
    app.parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the end.
  } catch (const CLI::Success& success) {                                 // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    // The value of a flag that there is not may have been taken for a word that excludes others.
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
        dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr ||
        (!arguments.empty() && typed_command(app).get_parent() == nullptr)) {
      reject_unknown_flag(program, app, arguments);
    }
    const CLI::App& command = typed_command(app);
    say_once(fmt::format("{0}: {1}\nTry '{0}{2}{3} --help'.", program.name, what_is_wrong(program, error),
                         &command == &app ? "" : " ", &command == &app ? "" : command.get_name()),
             print_error);
    return exit_status(ErrorKind::bad_input);
  }
  return 0;
}

/// Whether calls have room in all threads; raises the soft limit to the least that commands need.
bool has_enough_stack() {
  constexpr rlim_t kEnough = rlim_t{1} << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kEnough) {
    return true;
  }
  limit.rlim_cur = kEnough;
  limit.rlim_max = std::max(limit.rlim_max, kEnough);
  if (::setrlimit(RLIMIT_STACK, &limit) != 0) {
    return false;
  }
  // What threads get was taken from the limit when the program began.
  pthread_attr_t attributes{};
  return ::pthread_attr_init(&attributes) == 0 && ::pthread_attr_setstacksize(&attributes, kEnough) == 0 &&
         ::pthread_setattr_default_np(&attributes) == 0;
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  if (!has_enough_stack()) {
    print_failure(program.name,
                  "the stack that is permitted here is too small; allow more of it (ulimit -s 8192)");
    return exit_status(ErrorKind::environment);
  }
  // Who started this program may ignore its children; those of this program are waited for.
  std::signal(SIGCHLD, SIG_DFL);
  // A file that may not grow is an error to report, with its name, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  open_standard_streams();
  const auto say = [&](std::string_view what) { print_failure(program.name, what); };
  try {
    const int status = run(program, argc, argv);
    finish_output();
    return status;
  } catch (const KeyError& error) {
    // Several problems stand in lines of their own, and each begins with the key.
    std::string text = "--";
    for (const char c : std::string_view(error.what())) {
      text += c == '\n' ? "\n--" : std::string(1, c);
    }
    say_once(text, say);
    return exit_status(error.kind());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bad_input) {
      say_once(error.what(), say);
    } else {
      say(error.what());
    }
    return exit_status(error.kind());
  } catch (const std::bad_alloc&) {
    say("there is not enough memory for this");
    return exit_status(ErrorKind::environment);
  } catch (const std::system_error& error) {
    // Threads and processes that are not granted.
    say(fmt::format("the system refuses: {}", error.what()));
    return exit_status(ErrorKind::environment);
  } catch (const Bug& bug) {
    say(fmt::format("this is a bug of ringside: {}", bug.what()));
  } catch (const std::exception& error) {
    say(fmt::format("this is a bug of ringside, an unexpected error: {}", error.what()));
  }
  return kExitBug;
}

}  // namespace ringside::cli
