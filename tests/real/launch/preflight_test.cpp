#include "real/launch/external/preflight.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Preflight, ClocksThatAreApartAreNamedOncePerMachine) {
  const std::vector<std::string> hosts = {"a", "a", "b", "b", "c", "d"};
  EXPECT_THAT(clock_remarks(hosts, std::vector{100.0, 100.1, 103.25, 103.2, 99.5, 98.0}),
              ElementsAre("The clock of b is 3.2 s ahead of that of a: so are the times in its logs.",
                          "The clock of d is 2.0 s behind that of a: so are the times in its logs."));
  EXPECT_THAT(clock_remarks(hosts, std::vector{100.0, 100.0, 101.0, 99.1, 99.0, 100.5}), IsEmpty());
}

TEST(Preflight, RanksDealtOutOverSocketsAreNamed) {
  const std::vector<std::string> hosts = {"a", "a", "a", "a", "b", "b", "b", "b"};
  EXPECT_EQ(socket_remark(hosts, std::vector{0, 0, 1, 1, 0, 0, 1, 1}), "");
  EXPECT_EQ(socket_remark(hosts, {}), "");
  EXPECT_EQ(
      socket_remark(hosts, std::vector{0, 1, 0, 1, 0, 0, 1, 1}),
      "Neighbours in the ring are on different sockets 4 times instead of 2: have ranks fill one socket "
      "after another (mpirun --map-by core, srun -m block:block).");
}

/// A folder like the kernel's /sys/class/net, with interfaces that this machine has not.
class FakeInterfaces {
 public:
  void add(const std::string& name, const std::string& speed, const std::string& state, bool device) const {
    std::filesystem::create_directories(net.path() / name / (device ? "device" : "."));
    std::ofstream(net.path() / name / "speed") << speed << "\n";
    std::ofstream(net.path() / name / "operstate") << state << "\n";
  }
  TemporaryDirectory net = {};
};

TEST(Preflight, InterfacesThatAreIdleAreCounted) {
  const FakeInterfaces fake;
  fake.add("eth0", "10000", "up", true);
  EXPECT_EQ(idle_interfaces("eth0", fake.net.path()), "");
  fake.add("bridge", "10000", "up", false);
  fake.add("eth1", "1000", "up", true);
  fake.add("eth2", "-1", "down", true);
  EXPECT_EQ(idle_interfaces("eth0", fake.net.path()), "");
  EXPECT_EQ(idle_interfaces("eth1", fake.net.path()), "eth1 of 2 interfaces, 1 of 11 Gb/s");
  fake.add("ib0", "100000", "up", true);
  EXPECT_EQ(idle_interfaces("eth0", fake.net.path()), "eth0 of 3 interfaces, 10 of 111 Gb/s");
  EXPECT_EQ(idle_interfaces("ib0", fake.net.path()), "");
  EXPECT_EQ(idle_interfaces("eth2", fake.net.path()), "") << "nobody knows its speed";
  EXPECT_EQ(idle_interfaces("none", fake.net.path()), "");
  EXPECT_EQ(idle_interfaces("eth0", fake.net.path() / "nowhere"), "");
  const FakeInterfaces twins;
  twins.add("eth0", "10000", "up", true);
  twins.add("virtual", "-1", "up", true);
  EXPECT_EQ(idle_interfaces("eth0", twins.net.path()), "") << "a cable that is not there carries nothing";
  twins.add("eth1", "10000", "up", true);
  EXPECT_EQ(idle_interfaces("eth0", twins.net.path()), "eth0 of 3 interfaces, 10 of 20 Gb/s");
}

TEST(Preflight, AnotherVersionOnOneNodeIsNamed) {
  require_same(std::vector<std::string>(3, "ringside 1.0"));
  try {
    require_same(std::vector<std::string>{"ringside 1.0", "ringside 1.0", "ringside 9.9 (gloo 0.5)"});
    ADD_FAILURE() << "nothing is said";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_STREQ(
        error.what(),
        "rank 0 is ringside 1.0, and rank 2 is ringside 9.9 (gloo 0.5); install the same on all nodes");
  }
}

TEST(Preflight, RanksOfAnotherVersionAreRefused) {
  run_as_threads(2, std::chrono::seconds(60), [](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    if (transport->rank() == 1) {
      coordination.texts("ringside 0.0 (gloo)");
      return;
    }
    try {
      preflight(coordination, Backend::gloo, std::vector<std::string>{"a", "a"}, {}, {});
      ADD_FAILURE() << "nothing is said";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank 1 is ringside 0.0 (gloo); install the same on all nodes"));
    }
  });
}

/// What rank 0 of host "a" is told where rank 1, of host "b", says these things of itself.
std::vector<std::string> remarks_beside(const std::string& idle, double ahead,
                                        const std::vector<int>& sockets,
                                        const std::vector<std::string>& hosts = {"a", "b", "b"}) {
  std::vector<std::string> remarks;
  std::string version;
  for (const bool knows_version : {false, true}) {
    std::string heard;
    run_as_threads(3, std::chrono::seconds(60), [&](std::unique_ptr<Transport> transport) {
      Coordination coordination(*transport);
      if (transport->rank() == 0) {
        try {
          remarks = preflight(coordination, Backend::threads, hosts, sockets, {});
        } catch (const Error&) {
          EXPECT_FALSE(knows_version);
        }
        return;
      }
      const std::string said = coordination.texts(version)[0];
      if (!knows_version && transport->rank() == 1) {
        heard = said;
      }
      if (knows_version && hosts[1] != hosts[0]) {
        coordination.barrier();
        const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
        coordination.all_values(now.count() + ahead);
        coordination.texts(idle);
      }
    });
    version = knows_version ? version : heard;
  }
  EXPECT_THAT(version, ::testing::MatchesRegex("ringside [0-9.]+ \\(threads\\)"));
  return remarks;
}

TEST(Preflight, SaysWhatIsOddOfEachMachineOnce) {
  EXPECT_THAT(remarks_beside("", 0, {}), IsEmpty());
  EXPECT_THAT(
      remarks_beside("eth0 of 2 interfaces, 1 of 11 Gb/s", 3600, {0, 1, 0}),
      ElementsAre(::testing::MatchesRegex("The clock of b is 3[56][0-9][0-9]\\.[0-9] s ahead of that of a: "
                                          "so are the times in its logs\\."),
                  "Ranks of b use eth0 of 2 interfaces, 1 of 11 Gb/s."));
  EXPECT_THAT(remarks_beside("", 3600, {0, 1, 0}, {"a", "a", "a"}),
              ElementsAre(HasSubstr("on different sockets 2 times instead of 1")));
}

TEST(Preflight, EveryRankKnowsWhatEachSays) {
  const std::vector<std::string> said = {"", "node-17.example.org", std::string(120, 'x')};
  run_as_threads(3, std::chrono::seconds(60), [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    EXPECT_THAT(coordination.texts(said.at(static_cast<std::size_t>(transport->rank()))),
                ElementsAre("", "node-17.example.org", std::string(96, 'x')));
    EXPECT_THAT(preflight(coordination, Backend::gloo, std::vector<std::string>{"a", "b", "b"}, {}, "lo"),
                IsEmpty());
  });
}

}  // namespace
}  // namespace ringside
