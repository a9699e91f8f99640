// A program with ranks, for tests that need whole processes:
//   test_ranks rank …                                                  a rank, as measure() starts it
//   test_ranks measure ALGORITHM RANKS BYTES SECONDS [WRAP [TIMEOUT]]  one all_reduce, for so long
//   test_ranks shm …                                                   the same through shared memory
//   test_ranks join ALGORITHM RANKS BYTES SECONDS RENDEZVOUS   the same as one rank of another launcher
//   test_ranks sweep RANKS SECONDS BYTES… -- ALGORITHM…                a table of them
//   test_ranks probe SECONDS RANKS…                                    a table of probes

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/measure/measure.hpp"
#include "real/probe/probe.hpp"
#include "real/rank_program.hpp"

namespace {

using namespace ringside;

void print(const PointKey& key, const Measurement& measurement) {
  fmt::print("{:16} {:3} ranks {:>8} {:10} {:12.1f} us  [{:.1f}, {:.1f}] x{} {}\n", key.algorithm, key.ranks,
             format(key.bytes), name(measurement.outcome), measurement.seconds.value * 1e6,
             measurement.low.value * 1e6, measurement.high.value * 1e6, measurement.iterations,
             measurement.note);
  std::fflush(stdout);
}

void print_probes(const std::vector<std::string>& arguments) {
  ProbeOptions options;
  options.budget = {std::stod(arguments[1])};
  options.ranks.clear();
  for (auto ranks = arguments.begin() + 2; ranks != arguments.end(); ++ranks) {
    options.ranks.push_back(std::stoi(*ranks));
  }
  for (ProbeSample& sample : probe(options, {})) {
    std::sort(sample.seconds.begin(), sample.seconds.end());
    const double median = sample.seconds[sample.seconds.size() / 2];
    fmt::print("{:10} {:3} ranks {:>8} {:12.2f} us {:8.2f} GB/s x{}\n", name(sample.key.kind),
               sample.key.ranks, format(sample.key.bytes), median * 1e6,
               static_cast<double>(sample.key.bytes.value) / median / 1e9, sample.seconds.size());
  }
}

int run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "rank") {
    return run_rank(std::span(arguments).subspan(1));
  }
  MeasureOptions options;
  std::vector<PointKey> points;
  const std::string verb = arguments.empty() ? "" : arguments[0];
  if (verb == "probe" && arguments.size() > 2) {
    print_probes(arguments);
    return 0;
  }
  if (arguments.size() >= 5 && (verb == "measure" || verb == "shm" || verb == "join")) {
    options.launch.backend = verb == "shm" ? Backend::shm : Backend::gloo;
    points.push_back(
        {.algorithm = arguments[1], .ranks = std::stoi(arguments[2]), .bytes = {std::stoll(arguments[3])}});
    options.budget_per_point = {std::stod(arguments[4])};
    options.target_interval = 0;  // As long as the budget lasts.
    options.max_iterations = 1'000'000'000;
    if (arguments.size() > 5 && !arguments[5].empty()) {
      (verb == "join" ? options.launch.rendezvous : options.launch.wrap) = arguments[5];
    }
    if (arguments.size() > 6) {
      options.launch.timeout = std::chrono::seconds(std::stoi(arguments[6]));
    }
  } else if (arguments.size() > 4 && verb == "sweep") {
    options.budget_per_point = {std::stod(arguments[2])};
    const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
    for (auto size = arguments.begin() + 3; size != dashes; ++size) {
      for (auto algorithm = dashes + 1; algorithm < arguments.end(); ++algorithm) {
        points.push_back(
            {.algorithm = *algorithm, .ranks = std::stoi(arguments[1]), .bytes = {std::stoll(*size)}});
      }
    }
  } else {
    fmt::print(stderr, "see the top of tests/real/rank_test_main.cpp\n");
    return 2;
  }
  measure(points, options, print);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_status(error.kind());
  } catch (const std::exception& exception) {
    fmt::print(stderr, "bug: {}\n", exception.what());
    return kExitBug;
  }
}
