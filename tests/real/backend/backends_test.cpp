// What each backend is and refuses, by its row.
#include "real/backend/backends.hpp"

#include <algorithm>
#include <climits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/mpi/library.hpp"
#include "real/backend/nccl/settings.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(Backends, EachSaysWhatItsRanksAre) {
  const struct {
    Backend backend;
    bool gpus, threads, on_arrival, launcher, library_transport, takes_cores, versioned;
  } table[] = {{Backend::gloo, false, false, false, false, false, true, true},
               {Backend::nccl, true, false, false, false, false, false, false},
               {Backend::shm, false, false, true, false, true, true, false},
               {Backend::mpi, false, false, false, true, true, true, true},
               {Backend::threads, false, true, false, false, false, false, false}};
  ASSERT_EQ(all_backends().size(), std::size(table));
  for (std::size_t i = 0; i < std::size(table); ++i) {
    const RegisteredBackend& row = all_backends()[i];
    if (row.backend == Backend::gloo && row.join == nullptr) {
      continue;  // This build has none.
    }
    const auto& due = table[i];
    SCOPED_TRACE(name(due.backend));
    EXPECT_EQ(row.backend, due.backend);
    EXPECT_EQ(registered(due.backend).backend, due.backend);
    EXPECT_EQ(resolve(due.backend), due.backend);
    EXPECT_EQ(row.on_gpus, due.gpus);
    EXPECT_EQ(row.ranks_are_threads, due.threads);
    EXPECT_EQ(row.reduces_on_arrival, due.on_arrival);
    EXPECT_EQ(row.needs_launcher, due.launcher);
    EXPECT_EQ(row.library_transport, due.library_transport);
    EXPECT_EQ(row.ranks_take_cores(), due.takes_cores);
    EXPECT_EQ(row.library_version != nullptr, due.versioned);
    EXPECT_EQ(row.software == &Software::mpi, due.launcher);
  }
  EXPECT_EQ(resolve(Backend::automatic), Backend::gloo);
  EXPECT_EQ(registered(Backend::automatic).backend, Backend::gloo);
}

TEST(Backends, AreDescribedInAFewWords) {
  EXPECT_EQ(registered(Backend::shm).describe(), "CPU ranks through the memory of this machine");
  EXPECT_EQ(registered(Backend::threads).describe(), "ranks as threads of one process, for tests");
  EXPECT_EQ(registered(Backend::shm).unavailable(), std::nullopt);
  EXPECT_EQ(registered(Backend::threads).unavailable(), std::nullopt);
  EXPECT_EQ(RegisteredBackend().describe(), "");
  const GpuMachine machine = gpu_machine();
  EXPECT_EQ(registered(Backend::nccl).describe(),
            fmt::format("{} × {}, NCCL {}", machine.gpus.size(),
                        machine.gpus.empty() ? "GPU" : machine.gpus[0].model,
                        nccl_version_text(machine.nccl_version.value_or(0))));
  EXPECT_EQ(registered(Backend::nccl).unavailable(), missing_for_nccl(machine));
  if (registered(Backend::gloo).join != nullptr) {
    EXPECT_EQ(registered(Backend::gloo).unavailable(), std::nullopt);
    EXPECT_THAT(registered(Backend::gloo).library_version(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
    EXPECT_EQ(registered(Backend::gloo).describe(),
              "CPU ranks over TCP, Gloo " + registered(Backend::gloo).library_version());
  }
}

TEST(Backends, TheMpiLibraryThatIsNotBesideTheProgramIsSaidToBeMissing) {
  const std::optional<std::string> missing = registered(Backend::mpi).unavailable();
  if (!missing) {
    GTEST_SKIP() << "the loader finds one";
  }
  EXPECT_EQ(*missing,
            "there is no libringside_mpi.so; install an MPI library (Debian: libopenmpi-dev or libmpich-dev) "
            "and build again");
  try {
    mpi_library();
    FAIL() << "a library that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_EQ(error.what(), *missing);
  }
}

std::string refusal(const PointKey& key, Backend backend) { return unsupported(key, backend).value_or(""); }

TEST(Unsupported, WhatAnAlgorithmRefusesIsRefusedByEveryBackend) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const int ranks : {1, 3, 4}) {
      const auto reason = algorithm.unsupported == nullptr
                              ? std::nullopt
                              : algorithm.unsupported(request_for(algorithm.collective, ranks, {}));
      for (const Backend backend : {Backend::threads, Backend::shm, Backend::nccl, Backend::automatic}) {
        EXPECT_EQ(unsupported({.collective = algorithm.collective,
                               .algorithm = std::string(algorithm.name),
                               .ranks = ranks,
                               .bytes = {0}},
                              backend),
                  reason)
            << algorithm.name << ", " << ranks << " ranks";
      }
    }
  }
}

TEST(Unsupported, EachBackendSaysWhatItLacks) {
  const struct {
    Backend backend;
    PointKey key;
    std::string reason;
  } table[] = {
      {Backend::threads, {.algorithm = "ring", .ranks = 2, .bytes = {8}}, ""},
      {Backend::threads,
       {.algorithm = "ring", .ranks = 2, .bytes = {6}},
       "6 bytes are no whole number of float32 elements"},
      {Backend::threads,
       {.algorithm = "native", .ranks = 2, .bytes = {8}},
       "the threads backend has no all_reduce of its own"},
      {Backend::threads,
       {.algorithm = "ring", .ranks = 2, .bytes = {8}, .dtype = DataType::float16},
       "CPU ranks do not reduce float16: there is no arithmetic for it in standard C++20"},
      {Backend::nccl, {.algorithm = "ring", .ranks = 2, .bytes = {8}, .dtype = DataType::float16}, ""},
      {Backend::nccl,
       {.algorithm = "ring", .ranks = 2, .bytes = {7}, .dtype = DataType::float16},
       "7 bytes are no whole number of float16 elements"},
      {Backend::nccl, {.algorithm = "native", .ranks = 3, .bytes = {40}}, ""},
      {Backend::nccl,
       {.collective = Collective::reduce_scatter, .algorithm = "native", .ranks = 3, .bytes = {40}},
       "NCCL's reduce_scatter needs parts of equal size, and 3 ranks do not divide 10 elements"},
      {Backend::nccl,
       {.collective = Collective::reduce_scatter, .algorithm = "native", .ranks = 5, .bytes = {40}},
       ""},
      {Backend::nccl,
       {.collective = Collective::gather, .algorithm = "native", .ranks = 2, .bytes = {40}},
       "NCCL has a gather of its own only from version 2.28 on; use an algorithm of ringside"},
      {Backend::shm, {.algorithm = "native", .ranks = 3, .bytes = {40}}, ""},
      {Backend::shm,
       {.collective = Collective::broadcast, .algorithm = "native", .ranks = 2, .bytes = {8}},
       "the shm backend has no broadcast of its own; use an algorithm of ringside"},
      {Backend::mpi, {.algorithm = "native", .ranks = 3, .bytes = {40}}, ""},
      {Backend::mpi, {.algorithm = "ring", .ranks = 3, .bytes = {INT_MAX - 3}}, ""},
      {Backend::mpi,
       {.algorithm = "ring", .ranks = 3, .bytes = {INT_MAX}},
       "2147483647 bytes are no whole number of float32 elements"},
      {Backend::mpi,
       {.algorithm = "ring", .ranks = 3, .bytes = {INT_MAX + std::int64_t{1}}},
       "MPI counts up to 2147483647 bytes"},
      {Backend::mpi,
       {.collective = Collective::all_to_all, .algorithm = "native", .ranks = 3, .bytes = {40}},
       "parts of equal size are measured here, and 3 ranks do not divide 40 B"},
      {Backend::mpi,
       {.collective = Collective::all_to_all, .algorithm = "native", .ranks = 5, .bytes = {40}},
       ""},
      {Backend::mpi,
       {.collective = Collective::all_gather, .algorithm = "native", .ranks = 3, .bytes = {40}},
       ""}};
  for (const auto& row : table) {
    EXPECT_EQ(refusal(row.key, row.backend), row.reason) << name(row.backend);
  }
}

TEST(Unsupported, GlooSaysWhatItLacks) {
  if (registered(Backend::gloo).join == nullptr) {
    GTEST_SKIP() << "this build has no gloo backend";
  }
  const auto said = [](Collective collective, int ranks) {
    return refusal({.collective = collective, .algorithm = "native", .ranks = ranks, .bytes = {40}},
                   Backend::gloo);
  };
  for (const Collective collective :
       {Collective::all_reduce, Collective::broadcast, Collective::reduce, Collective::all_gather}) {
    EXPECT_EQ(said(collective, 3), "") << name(collective);
  }
  EXPECT_EQ(said(Collective::gather, 5), "");
  EXPECT_EQ(said(Collective::gather, 3),
            "Gloo's gather needs parts of equal size, and 3 ranks do not divide 10 elements");
  EXPECT_EQ(said(Collective::reduce_scatter, 5),
            "Gloo has no reduce_scatter of the kind that takes options; use an algorithm of ringside");
  EXPECT_EQ(said(Collective::all_to_all, 5),
            "Gloo's own all_to_all is not measured here; use an algorithm of ringside");
  EXPECT_EQ(said(Collective::send_recv, 5),
            "Gloo's own send_recv is not measured here; use an algorithm of ringside");
}

/// The text of what is thrown, which is the user's mistake.
std::string mistake(const PointKey& key) {
  try {
    return "supported " + refusal(key, Backend::threads);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
}

TEST(Unsupported, WhatIsNoPointIsAMistake) {
  EXPECT_EQ(mistake({.algorithm = "ring", .ranks = 1, .bytes = {0}}), "supported ");
  EXPECT_EQ(mistake({.algorithm = "ring", .ranks = 0, .bytes = {8}}),
            "a point needs at least one rank and no negative size, not 0 ranks and 8 bytes");
  EXPECT_EQ(mistake({.algorithm = "ring", .ranks = 2, .bytes = {-1}}),
            "a point needs at least one rank and no negative size, not 2 ranks and -1 bytes");
  EXPECT_THAT(mistake({.algorithm = "rong", .ranks = 2, .bytes = {8}}),
              StartsWith("unknown all_reduce algorithm 'rong'"));
}

TEST(BackendChoice, GpusWhereThereAreEnoughAndElseCpusWithTheReason) {
  const std::optional<std::string> missing = registered(Backend::nccl).unavailable();
  const int num_gpus = static_cast<int>(gpu_machine().gpus.size());
  for (const bool here : {false, true}) {
    const BackendChoice enough = choose_backend(num_gpus, 1, here);
    const BackendChoice too_many = choose_backend(3 * num_gpus + 1, 3, here);
    EXPECT_EQ(too_many.backend, here ? Backend::shm : Backend::gloo);
    EXPECT_EQ(too_many.instead_of, Backend::nccl);
    EXPECT_EQ(too_many.why_not, missing ? *missing : *too_few_gpus(num_gpus, 3 * num_gpus + 1, 3));
    EXPECT_EQ(enough.backend, missing ? too_many.backend : Backend::nccl);
    EXPECT_EQ(enough.why_not, missing.value_or(""));
  }
}

TEST(JoinRanks, RanksThatAreNoProcessesAreRefused) {
  try {
    join_ranks({.backend = Backend::threads});
    FAIL() << "threads join nobody";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_STREQ(error.what(), "ranks of this backend are no processes");
  }
}

}  // namespace
}  // namespace ringside
