#include "examples/support/example.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace examples {

using namespace ringside;

namespace {

/// The backends of the public API, by the names that users write.
std::vector<std::string> backends() { return {"gloo", "nccl", "threads"}; }

}  // namespace

class Example::Flags {
 public:
  Flags(const std::string& name, const std::string& teaches) : app(teaches, name) {
    app.get_formatter()->column_width(34);
    app.add_option("--ranks", group.ranks, "How many ranks to start")->capture_default_str();
    app.add_option("--backend", backend,
                   "gloo (a process per rank), nccl (with a GPU each) or threads (of one process)")
        ->capture_default_str();
    app.add_option("--ranks-per-gpu", group.ranks_per_gpu, "How many ranks share a GPU, where GPUs are few")
        ->capture_default_str();
    app.add_option("--timeout", timeout, "How long a rank waits for another one before it gives up")
        ->capture_default_str();
  }

  CLI::App app;
  RankGroup group;
  std::string backend = "gloo";
  std::string timeout = "60 s";
};

Example::Example(const std::string& name, const std::string& teaches)
    : flags_(std::make_unique<Flags>(name, teaches)) {}
Example::~Example() = default;

void Example::flag(const std::string& name, bool& value, const std::string& help) {
  flags_->app.add_flag(name, value, help);
}
void Example::option(const std::string& name, int& value, const std::string& help, int min, int max) {
  flags_->app.add_option(name, value, help)->capture_default_str()->check(CLI::Range(min, max));
}
void Example::option(const std::string& name, double& value, const std::string& help) {
  flags_->app.add_option(name, value, help)->capture_default_str();
}
void Example::option(const std::string& name, std::string& value, const std::string& help) {
  flags_->app.add_option(name, value, help)->capture_default_str();
}
void Example::choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
                     const std::string& help) {
  value = words.front();
  flags_->app.add_option(name, value, help)
      ->capture_default_str()
      ->check([name, words](const std::string& text) {
        return std::find(words.begin(), words.end(), text) == words.end()
                   ? unknown_name("value of " + name, text, words)
                   : std::string();
      });
}
void Example::size(const std::string& name, Bytes& value, const std::string& help) {
  flags_->app
      .add_option_function<std::string>(
          name, [&value](const std::string& text) { value = parse_bytes(text); }, help)
      ->default_str(format(value));
}

int Example::run(int argc, char** argv, const std::function<void(const RankGroup&)>& body) {
  CLI::App& app = flags_->app;
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& success) {  // --help
      return app.exit(success);
    } catch (const CLI::ParseError& error) {
      throw Error(ErrorKind::bad_input, fmt::format("{}\nTry '{} --help'.", error.what(), app.get_name()));
    }
    RankGroup& group = flags_->group;
    const std::vector<std::string> known = backends();
    if (std::find(known.begin(), known.end(), flags_->backend) == known.end()) {
      throw Error(ErrorKind::bad_input, unknown_name("backend", flags_->backend, known));
    }
    group.backend = *parse_name<Backend>(flags_->backend);
    if (group.ranks < 1) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("--ranks: at least one rank is needed, not {}", group.ranks));
    }
    if (const std::optional<std::string> reason = cannot_launch(group.backend)) {
      throw Error(ErrorKind::environment, *reason);
    }
    group.timeout = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double>(parse_seconds(flags_->timeout).value));
    body(group);
    return 0;
  } catch (const Error& error) {
    std::fflush(stdout);
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    return exit_status(error.kind());
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "{}: this is a bug: {}\n", app.get_name(), error.what());
    return kExitBug;
  }
}

void require_root(int root, int ranks) {
  if (root < 0 || root >= ranks) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--root {} is none of the {} ranks, which count from 0", root, ranks));
  }
}

void check(bool condition, const std::string& what) {
  if (!condition) {
    throw Error(ErrorKind::failed, what);
  }
}

void in_turn(Communicator& communicator, const std::function<void()>& print) {
  for (Rank turn = 0; turn < communicator.ranks(); ++turn) {
    if (turn == communicator.rank()) {
      print();
      std::fflush(stdout);
    }
    communicator.barrier();
  }
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double slowest_median(Communicator& communicator, int iterations, const std::function<void()>& call) {
  std::vector<double> seconds;
  for (int i = -1; i < iterations; ++i) {
    communicator.barrier();
    const double start = now();
    call();
    std::array<double, 1> slowest = {now() - start};
    communicator.all_reduce(slowest, ReduceOp::max, "naive");
    if (i >= 0) {
      seconds.push_back(slowest.front());
    }
  }
  std::nth_element(seconds.begin(), seconds.begin() + iterations / 2, seconds.end());
  return seconds[static_cast<std::size_t>(iterations / 2)];
}

}  // namespace examples
