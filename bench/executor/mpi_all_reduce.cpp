// MPI_Allreduce, in place, as whichever algorithm mpirun's parameters choose:
//   mpirun … mpi_all_reduce --budget SECONDS --bytes B...
// Rank 0 prints a line per size (peer::print).
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "bench/executor/timed_calls.hpp"

namespace {

peer::Ranks all_ranks() {
  peer::Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.num_ranks);
  ranks.barrier = [] { MPI_Barrier(MPI_COMM_WORLD); };
  ranks.maximum = [](std::span<double> values) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
  };
  return ranks;
}

/// "Open MPI v4.1.4" or "MPICH 4.0.2", without where and by whom it was built.
std::string library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all(text.data());
  const std::string first = all.substr(0, all.find_first_of(",\n"));
  const std::size_t tab = first.find_last_of('\t');  // "MPICH Version:\t4.0.2"
  return tab == std::string::npos ? first : "MPICH " + first.substr(tab + 1);
}

void run(const std::vector<std::size_t>& sizes, double budget) {
  const peer::Ranks ranks = all_ranks();
  for (const std::size_t bytes : sizes) {
    const std::vector<float> own = peer::contribution(ranks.rank, bytes / sizeof(float));
    std::vector<float> message = own;
    const peer::Call call{.before = [&] { std::copy(own.begin(), own.end(), message.begin()); },
                          .run =
                              [&] {
                                MPI_Allreduce(MPI_IN_PLACE, message.data(), static_cast<int>(message.size()),
                                              MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                              }};
    const peer::Time time = peer::time_calls(call, budget, ranks);
    peer::require_sum(ranks, message);
    peer::print(ranks, library(), "all_reduce", bytes, time);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double budget = 0.2;
  std::vector<std::size_t> bytes;
  CLI::App app("MPI_Allreduce; see bench/executor/side_by_side");
  app.add_option("--budget", budget);
  app.add_option("--bytes", bytes)->required();
  try {
    app.parse(argc, argv);
    run(bytes, budget);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "mpi_all_reduce: {}\n", exception.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
