// Real rank processes over Gloo: what they give, and what is left when they are killed, stopped or
// interrupted. 400 lines: one fixture serves all of it.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/launch/rank_child.hpp"
#include "real/measure/measure.hpp"
#include "real/probe/probe.hpp"
#include "real/system/posix.hpp"
#include "real/system/this_machine.hpp"
#include "schedule/registry.hpp"
#include "tests/real/processes.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Caught {
  ErrorKind kind = ErrorKind::failed;
  std::string text;
};

/// Puts all threads of a process on this core, where they run when nobody else wants to.
void starve(pid_t process, std::size_t core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  const sched_param priority = {};
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process))) {
    const pid_t number = std::stoi(thread.path().filename().string());
    ::sched_setaffinity(number, sizeof(cores), &cores);
    ::sched_setscheduler(number, SCHED_IDLE, &priority);
  }
}

class Launcher : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::optional<std::string> reason = registered(Backend::gloo).unavailable()) {
      GTEST_SKIP() << *reason;
    }
  }

  /// Whatever a test does, it leaves no rank and no file.
  void TearDown() override {
    EXPECT_TRUE(temporary_.wait_for_ranks(0)) << "a rank process is left";
    EXPECT_TRUE(temporary_.empty()) << "a temporary file is left";
  }

  static MeasureOptions quick() {
    return {.launch = {.timeout = 20s, .program = RINGSIDE_TEST_RANKS}, .budget_per_point = {0.02}};
  }

  /// A point that goes on until somebody stops it.
  static MeasureOptions endless() {
    MeasureOptions options = quick();
    options.budget_per_point = {1000};
    options.target_interval = 0;
    options.max_iterations = 1'000'000'000;
    return options;
  }

  static std::vector<Measurement> measured(const std::vector<PointKey>& points,
                                           const MeasureOptions& options) {
    std::vector<Measurement> result;
    measure(points, options,
            [&](const PointKey&, const Measurement& measurement) { result.push_back(measurement); });
    return result;
  }

  static Caught caught(const std::vector<PointKey>& points, const MeasureOptions& options) {
    try {
      measured(points, options);
    } catch (const Error& error) {
      return {.kind = error.kind(), .text = error.what()};
    }
    return {.text = "nothing was thrown"};
  }

  /// Sends a signal to a rank as soon as all of them run.
  Caught caught_with_signal(const PointKey& point, const MeasureOptions& options, Rank rank, int signal) {
    std::thread assassin([&, num_ranks = static_cast<std::size_t>(point.ranks)] {
      EXPECT_TRUE(temporary_.wait_for_ranks(num_ranks));
      while (!temporary_.empty()) {  // Until they have met.
        std::this_thread::sleep_for(5ms);
      }
      std::this_thread::sleep_for(300ms);  // Into the timed calls.
      EXPECT_TRUE(temporary_.strike(rank, signal)) << "rank " << rank << " had ended before";
      struck_ = Clock::now();
    });
    const Caught result = caught({point}, options);
    answered_ = Clock::now();
    assassin.join();
    return result;
  }

  std::chrono::milliseconds time_to_answer() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(answered_ - struck_);
  }

  OwnTemporaryDirectory temporary_;
  Clock::time_point struck_;
  Clock::time_point answered_;
};

TEST_F(Launcher, EveryAlgorithmOfEveryCollectiveIsRightOverGloo) {
  std::vector<PointKey> points;
  for (const int ranks : {1, 2, 3}) {
    for (const Algorithm& algorithm : all_algorithms()) {
      points.push_back({.collective = algorithm.collective,
                        .algorithm = std::string(algorithm.name),
                        .ranks = ranks,
                        .bytes = {4004}});
    }
    // Short enough to be one message, and long enough to be more than a socket takes at once.
    points.push_back({.algorithm = "ring", .ranks = ranks, .bytes = {4}});
    points.push_back({.algorithm = "ring", .ranks = ranks, .bytes = {8 << 20}});
  }
  MeasureOptions options = quick();
  options.max_iterations = 5;
  std::size_t reported = 0;
  measure(points, options, [&](const PointKey& key, const Measurement& measurement) {
    EXPECT_EQ(key, points[reported++]);
    const bool possible = !unsupported(key, Backend::gloo);
    EXPECT_EQ(name(measurement.outcome), name(possible ? Outcome::ok : Outcome::unsupported))
        << name(key.collective) << ' ' << key.algorithm << ": " << measurement.note;
  });
  EXPECT_EQ(reported, points.size());
}

TEST_F(Launcher, GloosOwnCollectivesAreCheckedToo) {
  std::vector<PointKey> points;
  for (const Collective collective : {Collective::all_reduce, Collective::reduce, Collective::broadcast,
                                      Collective::all_gather, Collective::gather}) {
    for (const int ranks : {1, 2, 3}) {
      points.push_back({.collective = collective, .algorithm = "native", .ranks = ranks, .bytes = {2400}});
    }
  }
  points.push_back(
      {.collective = Collective::all_gather, .algorithm = "native", .ranks = 3, .bytes = {4000}});
  for (const DataType dtype : {DataType::float64, DataType::int32, DataType::int64}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg}) {
      points.push_back({.algorithm = "native", .ranks = 3, .bytes = {4000}, .dtype = dtype, .op = op});
    }
  }
  MeasureOptions options = quick();
  options.max_iterations = 5;
  measure(points, options, [&](const PointKey& key, const Measurement& measurement) {
    EXPECT_EQ(name(measurement.outcome), name(Outcome::ok))
        << name(key.collective) << ", " << key.ranks << " ranks, " << name(key.dtype) << ' ' << name(key.op)
        << ": " << measurement.note;
  });
}

TEST_F(Launcher, WhatGlooLacksIsUnsupported) {
  const std::vector<Measurement> measurements =
      measured({{.collective = Collective::reduce_scatter, .algorithm = "native", .ranks = 2, .bytes = {8}},
                {.collective = Collective::gather, .algorithm = "native", .ranks = 3, .bytes = {16}}},
               quick());
  for (const Measurement& measurement : measurements) {
    EXPECT_EQ(measurement.outcome, Outcome::unsupported);
    EXPECT_THAT(measurement.note, HasSubstr("Gloo"));
  }
}

TEST_F(Launcher, AKilledRankIsNamedWithItsSignal) {
  const Caught error =
      caught_with_signal({.algorithm = "ring", .ranks = 4, .bytes = {1 << 20}}, endless(), 2, SIGKILL);
  EXPECT_EQ(error.kind, ErrorKind::peer_lost);
  EXPECT_EQ(error.text,
            "rank 2 was killed by signal 9 (Killed) while running all_reduce ring, 4 ranks, 1 MiB");
  EXPECT_LT(time_to_answer(), 1500ms);
}

TEST_F(Launcher, ARankKilledInGloosOwnAllReduceIsNamedToo) {
  const Caught error =
      caught_with_signal({.algorithm = "native", .ranks = 3, .bytes = {1 << 20}}, endless(), 0, SIGTERM);
  EXPECT_EQ(error.kind, ErrorKind::peer_lost);
  EXPECT_THAT(error.text, HasSubstr("rank 0 was killed by signal 15 (Terminated)"));
}

TEST_F(Launcher, AStoppedRankIsNamedWhenTheTimeoutIsOver) {
  MeasureOptions options = endless();
  options.launch.timeout = 2s;  // Also for meeting, beside other tests.
  for (const std::string algorithm : {"ring", "naive", "native"}) {
    const Caught error =
        caught_with_signal({.algorithm = algorithm, .ranks = 3, .bytes = {4096}}, options, 1, SIGSTOP);
    EXPECT_EQ(error.kind, ErrorKind::peer_lost);
    EXPECT_THAT(error.text, AllOf(HasSubstr("rank 1 did not answer within 2 s while running all_reduce"),
                                  HasSubstr("it is stopped")));
    EXPECT_LT(time_to_answer(), 4s);
  }
}

TEST_F(Launcher, FinishedPointsAreReportedBeforeARankIsLost) {
  const std::vector<PointKey> points = {{.algorithm = "ring", .ranks = 2, .bytes = {400}},
                                        {.algorithm = "naive", .ranks = 2, .bytes = {400}}};
  std::vector<std::string> reported;
  EXPECT_THROW(measure(points, quick(),
                       [&](const PointKey& key, const Measurement&) {
                         reported.push_back(key.algorithm);
                         EXPECT_TRUE(temporary_.strike(1, SIGKILL));
                       }),
               Error);
  EXPECT_THAT(reported, ElementsAre("ring"));
}

TEST_F(Launcher, AWrapperStandsInFrontOfEachRank) {
  const std::filesystem::path file = temporary_.path() / "wrapped";
  MeasureOptions options = quick();
  options.launch.wrap = R"(sh -c 'echo {rank} {host} >> "$0"; exec "$@"' )" + file.string();
  EXPECT_EQ(measured({{.algorithm = "ring", .ranks = 2, .bytes = {400}}}, options).front().outcome,
            Outcome::ok);
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  EXPECT_THAT(lines, ::testing::UnorderedElementsAre("0 host0", "1 host1"));
  std::filesystem::remove(file);
}

TEST_F(Launcher, ARankBehindAWrapperThatStaysIsEndedWithIt) {
  MeasureOptions options = endless();
  options.launch.wrap = R"(sh -c '"$@"; exit $?' --)";  // The shell waits for the rank.
  const Caught error =
      caught_with_signal({.algorithm = "ring", .ranks = 2, .bytes = {4096}}, options, 1, SIGKILL);
  EXPECT_EQ(error.kind, ErrorKind::peer_lost);
}

TEST_F(Launcher, AWrapperThatFailsIsTheReason) {
  const PointKey point = {.algorithm = "ring", .ranks = 2, .bytes = {400}};
  MeasureOptions options = quick();
  options.launch.wrap = "/no/such/wrapper";
  Caught error = caught({point}, options);
  EXPECT_EQ(error.kind, ErrorKind::environment);
  EXPECT_THAT(error.text, AllOf(HasSubstr("/no/such/wrapper"), HasSubstr("No such file")));

  options.launch.wrap = "sh -c 'echo Cannot open network namespace >&2; exit 3'";
  error = caught({point}, options);
  EXPECT_EQ(error.kind, ErrorKind::peer_lost);
  EXPECT_THAT(error.text, AllOf(HasSubstr("rank 0 ended with exit status 3 while connecting 2 ranks"),
                                HasSubstr("Cannot open network namespace")));
}

TEST_F(Launcher, TheEndOfALongOutputIsTold) {
  MeasureOptions options = quick();
  options.launch.wrap = "sh -c 'seq 1 5000 >&2; exit 3'";
  const Caught error = caught({{.algorithm = "ring", .ranks = 2, .bytes = {400}}}, options);
  EXPECT_THAT(error.text, AllOf(HasSubstr("\n4999\n5000"), ::testing::Not(HasSubstr("\n1\n2\n"))));
}

TEST_F(Launcher, WhatAWrapperHasStartedIsEndedWithIt) {
  const std::filesystem::path file = temporary_.path() / "started";
  MeasureOptions options = endless();
  options.launch.wrap = R"(sh -c 'sleep 1000 & echo $! >> "$0"; "$@"; exit $?' )" + file.string();
  std::vector<pid_t> started;
  std::thread assassin([&] {
    EXPECT_TRUE(temporary_.wait_for_ranks(2));
    std::this_thread::sleep_for(300ms);
    std::ifstream stream(file);
    for (pid_t process = 0; stream >> process;) {
      started.push_back(process);
    }
    EXPECT_TRUE(temporary_.strike(1, SIGKILL));
  });
  EXPECT_EQ(caught({{.algorithm = "ring", .ranks = 2, .bytes = {4096}}}, options).kind, ErrorKind::peer_lost);
  assassin.join();
  EXPECT_EQ(started.size(), 2U);
  for (const pid_t process : started) {
    const std::string folder = fmt::format("/proc/{}", process);
    for (int i = 0; i < 100 && process_state(folder) != 0 && process_state(folder) != 'Z'; ++i) {
      std::this_thread::sleep_for(20ms);
    }
    EXPECT_THAT(process_state(folder), ::testing::AnyOf('\0', 'Z'));
  }
  std::filesystem::remove(file);
}

TEST_F(Launcher, WhatItCannotUseIsRefusedInOneSentence) {
  const PointKey point = {.algorithm = "ring", .ranks = 2, .bytes = {400}};
  MeasureOptions options = quick();
  options.launch.interface = "eth-none";
  Caught error = caught({point}, options);
  EXPECT_EQ(error.kind, ErrorKind::environment);
  EXPECT_THAT(error.text, AllOf(HasSubstr("'eth-none'"), HasSubstr("lo")));

  options = quick();
  options.launch.rendezvous = "tcp://localhost";
  error = caught({point}, options);
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_THAT(error.text, HasSubstr("redis://host:port"));

  options.launch.rendezvous = "redis://127.0.0.1:1";
  error = caught({point}, options);
  EXPECT_EQ(error.kind, ErrorKind::environment);
  EXPECT_THAT(error.text, HasSubstr("no Redis server answers at 127.0.0.1:1"));
}

TEST_F(Launcher, AnInterfaceCanBeNamed) {
  MeasureOptions options = quick();
  options.launch.interface = "lo";
  EXPECT_EQ(measured({{.algorithm = "ring", .ranks = 2, .bytes = {400}}}, options).front().outcome,
            Outcome::ok);
}

TEST_F(Launcher, ASignalToTheParentEndsRanksAndRemovesFilesFirst) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t parent = start({RINGSIDE_TEST_RANKS, "measure", "ring", "3", "65536", "1000"});
    ASSERT_TRUE(temporary_.wait_for_ranks(3));
    ::kill(parent, signal);
    int status = 0;
    ::waitpid(parent, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal) << "it dies by the signal that it was sent";
    EXPECT_THAT(temporary_.ranks(), IsEmpty());
    EXPECT_TRUE(temporary_.empty());
  }
}

TEST_F(Launcher, RanksDieWithAParentThatHasNoTimeToEndThem) {
  for (const std::string wrap : {"", R"(sh -c '"$@"; exit $?' --)"}) {
    const pid_t parent = start({RINGSIDE_TEST_RANKS, "measure", "ring", "3", "65536", "1000", wrap});
    ASSERT_TRUE(temporary_.wait_for_ranks(3));
    while (!temporary_.empty()) {  // Until they have met; then nobody needs a file any more.
      std::this_thread::sleep_for(5ms);
    }
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    EXPECT_TRUE(temporary_.wait_for_ranks(0));
    EXPECT_TRUE(temporary_.empty());
  }
}

TEST_F(Launcher, RanksOfAnotherLauncherMeetWhereTheyAreTold) {
  const std::string rendezvous = "file://" + (temporary_.path() / "meet").string();
  for (int repetition = 0; repetition < 2;
       ++repetition) {  // Addresses of the first run must not disturb the second.
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < 3; ++rank) {
      ranks.push_back(start({RINGSIDE_TEST_RANKS, "join", "ring", "3", "4096", "0.05", rendezvous},
                            {fmt::format("OMPI_COMM_WORLD_RANK={}", rank), "OMPI_COMM_WORLD_SIZE=3"}));
    }
    for (const pid_t rank : ranks) {
      int status = 0;
      ::waitpid(rank, &status, 0);
      EXPECT_EQ(status, 0);
    }
  }
  std::filesystem::remove_all(temporary_.path() / "meet");
}

TEST_F(Launcher, WhatAKilledRunLeftWhereRanksMeetDoesNotStopTheNextOne) {
  const std::filesystem::path folder = temporary_.path() / "meet";
  const auto start_rank = [&](int rank) {
    return start({RINGSIDE_TEST_RANKS, "join", "ring", "3", "4096", "0.05", "file://" + folder.string()},
                 {fmt::format("OMPI_COMM_WORLD_RANK={}", rank), "OMPI_COMM_WORLD_SIZE=3"});
  };
  const pid_t killed = start_rank(1);
  const Clock::time_point deadline = Clock::now() + 10s;
  const auto left_something = [&] {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
      if (entry.is_regular_file()) {
        return true;
      }
    }
    return false;
  };
  while (!left_something() && Clock::now() < deadline) {
    std::this_thread::sleep_for(5ms);
  }
  ::kill(killed, SIGKILL);
  ::waitpid(killed, nullptr, 0);
  ASSERT_TRUE(left_something());
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.push_back(start_rank(rank));
  }
  for (const pid_t rank : ranks) {
    int status = 0;
    ::waitpid(rank, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Launcher, TheRootOfAllFilesIsNoPlaceToMeet) {
  for (const std::string rendezvous : {"file://", "file:///", "file:///..", "file://here"}) {
    MeasureOptions options = quick();
    options.launch.rendezvous = rendezvous;
    const Caught error = caught({{.algorithm = "ring", .ranks = 2, .bytes = {400}}}, options);
    EXPECT_EQ(error.kind, ErrorKind::bad_input) << rendezvous;
    EXPECT_THAT(error.text, HasSubstr("names no folder")) << rendezvous;
  }
}

TEST_F(Launcher, ARankThatDiesIsNamedWhereChildrenAreIgnored) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const Caught error =
      caught_with_signal({.algorithm = "ring", .ranks = 2, .bytes = {4096}}, endless(), 1, SIGKILL);
  EXPECT_EQ(::signal(SIGCHLD, before), SIG_IGN) << "it is as it was";
  EXPECT_EQ(error.kind, ErrorKind::peer_lost);
  EXPECT_THAT(error.text, HasSubstr("rank 1 was killed by signal 9 (Killed)"));
}

TEST_F(Launcher, TimeInWhichNobodyRanCountsAgainstNoRank) {
  const pid_t parent = start({RINGSIDE_TEST_RANKS, "measure", "ring", "3", "65536", "1000", "", "1"});
  ASSERT_TRUE(temporary_.wait_for_ranks(3));
  std::this_thread::sleep_for(300ms);
  std::vector<pid_t> all = temporary_.ranks();
  all.push_back(parent);
  for (const int signal : {SIGSTOP, SIGCONT}) {
    for (const pid_t process : all) {
      ::kill(process, signal);
    }
    std::this_thread::sleep_for(signal == SIGSTOP ? 4s : 1s);
  }
  // Either nobody has noticed, or ranks whose deadline went by have given up; in no case is it a bug of ours.
  ::kill(parent, SIGTERM);
  int status = 0;
  ::waitpid(parent, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 1) << WEXITSTATUS(status);
  EXPECT_TRUE(temporary_.wait_for_ranks(0));
}

TEST_F(Launcher, RanksThatWereStoppedAreNotTakenForLost) {
  const std::filesystem::path said = temporary_.path() / "said";
  const std::string command =
      fmt::format("exec {} measure ring 3 65536 1000 '' 1 2> {}", RINGSIDE_TEST_RANKS, said.string());
  const pid_t parent = start({"sh", "-c", command});
  ASSERT_TRUE(temporary_.wait_for_ranks(3));
  std::this_thread::sleep_for(300ms);
  const std::vector<pid_t> ranks = temporary_.ranks();
  for (const int signal : {SIGSTOP, SIGCONT}) {
    for (const pid_t rank : ranks) {
      ::kill(rank, signal);
    }
    std::this_thread::sleep_for(signal == SIGSTOP ? 1800ms : 1s);
  }
  ::kill(parent, SIGTERM);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(temporary_.wait_for_ranks(0));
  std::ifstream stream(said);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  // Messages on the way may have let them go on; if not, it says that they did not run.
  EXPECT_THAT(text, ::testing::AnyOf("", HasSubstr("did not run for"), HasSubstr("it is stopped")));
  std::filesystem::remove(said);
}

TEST_F(Launcher, ARankThatGetsNoCoreIsNotAtFault) {
  const std::filesystem::path said = temporary_.path() / "said";
  const std::string command =
      fmt::format("exec {} measure ring 2 65536 1000 '' 1 2> {}", RINGSIDE_TEST_RANKS, said.string());
  const pid_t parent = start({"sh", "-c", command});
  ASSERT_TRUE(temporary_.wait_for_ranks(2));
  std::this_thread::sleep_for(300ms);
  const std::size_t core = allowed_cores().front();
  {
    const BusyCores others({core, core, core, core});
    const pid_t rank = temporary_.rank(1);
    ASSERT_GT(rank, 0);
    starve(rank, core);
    std::this_thread::sleep_for(8s);
    ::kill(parent, SIGTERM);
    ::waitpid(parent, nullptr, 0);
  }
  EXPECT_TRUE(temporary_.wait_for_ranks(0));
  std::ifstream stream(said);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  // The kernel may have let it run often enough.
  EXPECT_THAT(text, ::testing::AnyOf("", HasSubstr("did not run for")));
  std::filesystem::remove(said);
}

TEST_F(Launcher, ThreadsThatWereStoppedAreNotLateForEachOther) {
  const pid_t parent = ::getpid();
  const pid_t other = ::fork();
  if (other == 0) {
    ::usleep(300'000);
    ::kill(parent, SIGSTOP);
    ::usleep(4'000'000);
    ::kill(parent, SIGCONT);
    ::_exit(0);
  }
  run_as_threads(2, 3s, [](std::unique_ptr<Transport> transport) {
    std::byte message{};
    if (transport->rank() == 0) {
      const auto receive = transport->make_receive(1, std::span(&message, 1));
      receive->start();
      receive->wait();
    } else {
      std::this_thread::sleep_for(1s);
      const auto send = transport->make_send(0, std::span(&message, 1));
      send->start();
      send->wait();
    }
  });
  ::waitpid(other, nullptr, 0);
}

TEST_F(Launcher, ALinkWhereRanksMeetIsNotFollowed) {
  const std::filesystem::path meet = temporary_.path() / "meet";
  const std::filesystem::path elsewhere = temporary_.path() / "elsewhere";
  std::filesystem::create_directories(meet);
  std::filesystem::create_directories(elsewhere);
  std::filesystem::create_symlink(elsewhere, meet / "ringside-run-measure");
  const pid_t rank =
      start({RINGSIDE_TEST_RANKS, "join", "ring", "2", "4096", "0.05", "file://" + meet.string()},
            {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"});
  int status = 0;
  ::waitpid(rank, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), exit_status(ErrorKind::environment));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere));
  std::filesystem::remove_all(meet);
  std::filesystem::remove_all(elsewhere);
}

TEST_F(Launcher, AFolderOfAnotherUserIsNoPlaceToMeet) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  const std::filesystem::path folder = temporary_.path() / "meet" / "ringside-run-measure";
  std::filesystem::create_directories(folder);
  ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
  const pid_t rank = start(
      {RINGSIDE_TEST_RANKS, "join", "ring", "2", "4096", "0.05", "file://" + folder.parent_path().string()},
      {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"});
  int status = 0;
  ::waitpid(rank, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), exit_status(ErrorKind::environment));
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "nothing is told to whoever owns it";
  std::filesystem::remove_all(folder.parent_path());
}

TEST_F(Launcher, AnEndedRankKeepsItsNumberUntilItsGroupIsEnded) {
  RankChild child(0, {"sh", "-c", "exit 3"});
  while (!child.end()) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(child.end(), "ended with exit status 3");
  siginfo_t unreaped{};
  EXPECT_EQ(::waitid(P_ALL, 0, &unreaped, WEXITED | WNOHANG | WNOWAIT), 0);
  EXPECT_NE(unreaped.si_pid, 0) << "somebody else may get its number, and be killed for it";
}

TEST_F(Launcher, FoldersOfKilledProcessesAreRemovedByTheNext) {
  const auto make = [&](const std::string& name, int minutes_ago) {
    const std::filesystem::path folder = temporary_.path() / name;
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "0") << "address";
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    std::filesystem::last_write_time(
        folder, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(minutes_ago));
    return folder;
  };
  const std::filesystem::path forsaken = make("ringside-ranks-abcdef", 2);
  const std::filesystem::path young = make("ringside-ranks-ghijkl", 0);
  const std::filesystem::path used = make("ringside-ranks-mnopqr", 2);
  const std::filesystem::path other = make("ringside-backup", 2);
  const int lock = ::open(used.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  { const TemporaryDirectory directory; }
  EXPECT_FALSE(std::filesystem::exists(forsaken));
  for (const std::filesystem::path& kept : {young, used, other}) {
    EXPECT_TRUE(std::filesystem::exists(kept)) << kept;
    std::filesystem::remove_all(kept);
  }
  ::close(lock);
}

TEST_F(Launcher, WhatMeasuringDoesToTheMachineIsInTheRecord) {
  const int cores = this_machine().cores;
  const bool alone = cores == static_cast<int>(allowed_cores().size());  // No container grants less time.
  const std::vector<Measurement> measurements =
      measured({{.algorithm = "ring", .ranks = 1, .bytes = {400}},
                {.algorithm = "ring", .ranks = cores + 1, .bytes = {400}}},
               quick());
  ASSERT_EQ(measurements.size(), 2U);
  ASSERT_TRUE(measurements[0].machine_tuning && measurements[1].machine_tuning);
  EXPECT_EQ(measurements[0].machine_tuning->bound_to_cores, alone);
  EXPECT_FALSE(measurements[0].machine_tuning->batch_scheduling);
  EXPECT_FALSE(measurements[1].machine_tuning->bound_to_cores);
  EXPECT_FALSE(measurements[1].machine_tuning->idle_states_prevented);
}

TEST_F(Launcher, TheMachineIsLeftAloneWhenThatIsAsked) {
  MeasureOptions options = quick();
  options.launch.tune_machine = false;
  const int cores = this_machine().cores;
  const std::vector<Measurement> measurements =
      measured({{.algorithm = "ring", .ranks = 1, .bytes = {400}},
                {.algorithm = "ring", .ranks = cores + 1, .bytes = {400}}},
               options);
  for (const Measurement& measurement : measurements) {
    EXPECT_EQ(measurement.outcome, Outcome::ok);
    EXPECT_EQ(measurement.machine_tuning, MachineTuning{});
  }
}

TEST_F(Launcher, BusyCoresMakeNoRankLookLost) {
  const BusyCores busy;
  MeasureOptions options = quick();
  options.launch.timeout = 2s;
  for (const Measurement& measurement : measured({{.algorithm = "ring", .ranks = 2, .bytes = {1024}},
                                                  {.algorithm = "naive", .ranks = 2, .bytes = {1024}},
                                                  {.algorithm = "ring", .ranks = 2, .bytes = {65536}},
                                                  {.algorithm = "naive", .ranks = 2, .bytes = {65536}}},
                                                 options)) {
    EXPECT_EQ(measurement.outcome, Outcome::ok) << measurement.note;
    ASSERT_TRUE(measurement.machine_tuning.has_value());
    EXPECT_FALSE(measurement.machine_tuning->idle_states_prevented)
        << "a thread that nobody lets run would keep its rank from ending";
  }
}

TEST_F(Launcher, ProbesRunOnTheSameTransport) {
  const std::vector<ProbeSample> samples = probe({.launch = {.timeout = 20s, .program = RINGSIDE_TEST_RANKS},
                                                  .budget = {0.1},
                                                  .ranks = {2, 3},
                                                  .max_bytes = {1 << 16}},
                                                 {});
  ASSERT_FALSE(samples.empty());
  for (const ProbeSample& sample : samples) {
    EXPECT_GE(sample.seconds.size(), 3U) << name(sample.key.kind);
    for (const double seconds : sample.seconds) {
      EXPECT_GT(seconds, 0) << name(sample.key.kind);
    }
  }
}

}  // namespace
}  // namespace ringside
