#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ringside/launch.hpp"

/// What the tutorial's programs share: flags, errors as sentences, ranks that print in turn.
namespace examples {

/// Like `ringside` itself: `--ranks`, `--backend` and `--timeout`, further flags, and an exit status: 0 done,
/// 1 ran and failed, 2 wrong arguments, 3 this machine lacks what was asked for.
class Example {
 public:
  /// `teaches` is what --help says of it.
  Example(const std::string& name, const std::string& teaches);
  ~Example();
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  /// A flag that sets `value`; the value it has now is the default. `help` starts with what the value is.
  void flag(const std::string& name, bool& value, const std::string& help);
  void option(const std::string& name, int& value, const std::string& help, int min, int max = 1'000'000);
  void option(const std::string& name, double& value, const std::string& help);
  void option(const std::string& name, std::string& value, const std::string& help);
  /// One of these words, the first being the default.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
              const std::string& help);
  /// A size with its unit: `4 MiB`.
  void size(const std::string& name, ringside::Bytes& value, const std::string& help);

  /// Parses, runs, and turns an error into a sentence and an exit status.
  int run(int argc, char** argv, const std::function<void(const ringside::RankGroup&)>& body);

 private:
  class Flags;
  std::unique_ptr<Flags> flags_;
};

/// Throws Error{bad_input} when `root` is none of the ranks.
void require_root(int root, int ranks);

/// Throws Error{failed} with `what` unless it is as it must be. A student sees at once which rank disagrees.
void check(bool condition, const std::string& what);

/// Each rank calls `print` in order of rank, so that the lines of several processes stand in order.
void in_turn(ringside::Communicator& communicator, const std::function<void()>& print);

/// Median of the seconds that the slowest rank takes for `call`, over `iterations` runs after one that is not
/// counted. The same at all ranks.
double slowest_median(ringside::Communicator& communicator, int iterations,
                      const std::function<void()>& call);

/// Seconds since some moment that all processes of this machine share.
double now();

}  // namespace examples
