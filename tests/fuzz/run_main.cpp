// Runs targets without libFuzzer, in any build:
//   fuzz_targets list                          the names of all targets
//   fuzz_targets read TARGET FILE…             each file once
//   fuzz_targets mutate TARGET N SEED FILE…    each file once, then N texts made from them
// Ends with 1 and names the text where the program ends with 70 or by a signal, or takes a minute.

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "common/numbers.hpp"
#include "mutate.hpp"
#include "target.hpp"

namespace {

using ringside::fuzz::Target;

// Not a measure of speed: what ends at all ends long before, also on a busy machine.
constexpr unsigned kSecondsOfAHang = 60;

std::optional<Target> target_of(const std::string& name) {
  for (const Target& target : ringside::fuzz::all_targets()) {
    if (target.name == name) {
      return target;
    }
  }
  return std::nullopt;
}

/// What is being read, for the signal that ends it.
const std::string* reading = nullptr;

void say_what_was_read(int signal) {
  const std::string_view message =
      signal == SIGALRM ? "still reading after a minute:\n" : "ended by a signal while reading:\n";
  const bool said = ::write(STDERR_FILENO, message.data(), message.size()) > 0 &&
                    ::write(STDERR_FILENO, reading->data(), reading->size()) >= 0;
  ::_exit(said ? 1 : 3);
}

bool holds(const Target& target, const std::string& text, const std::string& what) {
  reading = &text;
  ::alarm(kSecondsOfAHang);
  const std::optional<std::string> fault = ringside::fuzz::fault_of(target, text);
  ::alarm(0);
  if (fault) {
    fmt::print(stderr, "{}: {}\n{}\n", what, *fault, text);
  }
  return !fault;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "list") {
    for (const Target& target : ringside::fuzz::all_targets()) {
      fmt::print("{}\n", target.name);
    }
    return 0;
  }
  const bool mutate = !words.empty() && words[0] == "mutate";
  const std::size_t first_file = mutate ? 4 : 2;
  const auto target = words.size() > 1 ? target_of(words[1]) : std::nullopt;
  if (!target || words.size() <= first_file || (!mutate && words[0] != "read")) {
    fmt::print(stderr, "list | read TARGET FILE… | mutate TARGET N SEED FILE…\n");
    return 2;
  }
  bool fine = true;
  std::vector<std::string> seeds;
  for (std::size_t i = first_file; i < words.size(); ++i) {
    std::ifstream stream(words[i], std::ios::binary);
    if (!stream) {
      fmt::print(stderr, "{}: cannot be read\n", words[i]);
      return 2;
    }
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    fine = holds(*target, seeds.back(), words[i]) && fine;
  }
  const std::size_t files = seeds.size();
  int texts = 0;
  if (mutate) {
    const int wanted = ringside::parse_number<int>(words[2]).value_or(0);
    const int seed = ringside::parse_number<int>(words[3]).value_or(0);
    ringside::fuzz::Mutator mutator(std::move(seeds), static_cast<std::uint64_t>(seed));
    for (; texts < wanted && fine; ++texts) {
      fine = holds(*target, mutator.next(), fmt::format("text {} of seed {}", texts, seed));
    }
  }
  fmt::print("{}: {} files and {} texts made from them{}\n", target->name, files, texts,
             fine ? "" : ", the last one wrong");
  return fine ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(signal, say_what_was_read);
  }
  return run(std::vector<std::string>(argv + 1, argv + argc));
}
