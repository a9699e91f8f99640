// How ranks of a launcher agree on a name, in a folder and in a TCPStore.

#include "real/launch/external/meeting.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/store/tcp_store_server.hpp"
#include "real/system/posix.hpp"
#include "tests/real/store/free_port.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using MakePlace = std::function<std::unique_ptr<MeetingPlace>()>;

/// The names on which ranks agree, or what each of them says instead.
std::vector<std::string> agreed(const MakePlace& make_place, const std::vector<std::pair<Rank, int>>& ranks) {
  std::vector<std::future<std::string>> meeting;
  for (const auto& [rank, num_ranks] : ranks) {
    meeting.push_back(std::async(std::launch::async, [&make_place, rank = rank, num_ranks = num_ranks] {
      try {
        return agree_on_name(*make_place(), {.rank = rank, .num_ranks = num_ranks, .timeout = 2s});
      } catch (const Error& error) {
        return std::string(error.what());
      }
    }));
  }
  std::vector<std::string> names;
  for (std::future<std::string>& one : meeting) {
    names.push_back(one.get());
  }
  return names;
}

void expect_meetings(const MakePlace& place) {
  // What a rank has left that was killed before the others came, or told of another number of ranks.
  EXPECT_THAT(agreed(place, {{1, 7}}),
              ::testing::ElementsAre(HasSubstr("rank 1 did not meet rank 0 within 2")));
  const std::vector<std::string> first = agreed(place, {{2, 3}, {0, 3}, {1, 3}});
  const std::vector<std::string> second = agreed(place, {{0, 3}, {1, 3}, {2, 3}});
  EXPECT_THAT(first, ::testing::Each(first[0]));
  EXPECT_THAT(second, ::testing::Each(second[0]));
  EXPECT_NE(first[0], second[0]);
  EXPECT_EQ(first[0].find_first_not_of("0123456789abcdef"), std::string::npos);
}

void expect_faults(const MakePlace& place) {
  EXPECT_THAT(agreed(place, {{0, 3}, {1, 4}, {2, 3}}),
              ::testing::Each(HasSubstr("rank 1 was told of 4 ranks, and rank 0 of 3")));
  EXPECT_THAT(agreed(place, {{0, 3}, {1, 6}, {2, 6}, {5, 6}}),
              ::testing::Each(HasSubstr(" was told of 6 ranks, and rank 0 of 3")));
  EXPECT_THAT(agreed(place, {{0, 3}, {1, 3}}),
              ::testing::Each(HasSubstr("rank 0 did not meet rank 2 within 2")));
  const std::vector<std::string> twice = agreed(place, {{0, 3}, {1, 3}, {1, 3}});
  EXPECT_THAT(twice, ::testing::Contains(HasSubstr("two processes say that they are rank 1")));
}

TEST(Meeting, InAFolder) {
  const TemporaryDirectory directory;
  const MakePlace place = [&] { return meeting_folder(directory.path() / "met"); };
  expect_meetings(place);
  expect_faults(place);
}

TEST(Meeting, InAFolderThatIsNoneOfOurs) {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("/tmp", directory.path() / "link");
  EXPECT_THROW(static_cast<void>(meeting_folder(directory.path() / "link")), Error);
}

TEST(Meeting, InAStore) {
  const int port = free_port().second;
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
  const TcpStoreServer server(port);
  const MakePlace place = [] { return meeting_store("test", 2s); };
  expect_meetings(place);
  expect_faults(place);
  ::unsetenv("MASTER_ADDR");
  ::unsetenv("MASTER_PORT");
}

}  // namespace
}  // namespace ringside
