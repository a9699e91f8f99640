// How ranks of a launcher agree on a name, in a folder and in a TCPStore.

#include "real/launch/external/meeting.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
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
using ::testing::ThrowsMessage;

using MakePlace = std::function<std::unique_ptr<MeetingPlace>()>;

/// The names on which ranks agree, or what each of them says instead.
std::vector<std::string> agreed(const MakePlace& make_place, const std::vector<std::pair<Rank, int>>& ranks) {
  std::vector<std::future<std::string>> meeting;
  for (const auto& [rank, num_ranks] : ranks) {
    meeting.push_back(std::async(std::launch::async, [&make_place, rank = rank, num_ranks = num_ranks] {
      try {
        return agree_on_name(*make_place(), {.rank = rank, .num_ranks = num_ranks, .timeout = 2s});
      } catch (const Error& error) {
        return fmt::format("{}: {}", exit_status(error.kind()), error.what());
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
  EXPECT_THAT(
      agreed(place, {{0, 3}, {1, 4}, {2, 3}}),
      ::testing::Each("2: rank 1 was told of 4 ranks, and rank 0 of 3; WORLD_SIZE must be the same for all"));
  EXPECT_THAT(agreed(place, {{0, 3}, {1, 6}, {2, 6}, {5, 6}}),
              ::testing::Each(HasSubstr(" was told of 6 ranks, and rank 0 of 3")));
  EXPECT_THAT(
      agreed(place, {{0, 3}, {1, 3}}),
      ::testing::Each(::testing::StartsWith(
          fmt::format("{}: rank 0 did not meet rank 2 within 2 s at ", exit_status(ErrorKind::peer_lost)) +
          place()->name())));
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
  std::ofstream(directory.path() / "file") << "text";
  const auto text_of_refusal = [&](const std::filesystem::path& path, const std::string& why) {
    return ThrowsMessage<Error>("the rendezvous directory " + path.string() + " " + why);
  };
  for (const std::string name : {"link", "file"}) {
    const std::filesystem::path path = directory.path() / name;
    EXPECT_THAT([&] { static_cast<void>(meeting_folder(path)); },
                text_of_refusal(path, "is no directory of its own; remove what is there"));
  }
  const std::filesystem::path below = directory.path() / "file" / "below";
  EXPECT_THAT([&] { static_cast<void>(meeting_folder(below)); },
              text_of_refusal(below, "cannot be made: Not a directory"));
}

TEST(Meeting, AFolderKeepsTextsForItsOwnerAlone) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "new" / "met";
  const std::unique_ptr<MeetingPlace> folder = meeting_folder(path);
  EXPECT_EQ(folder->name(), path.string());
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
  EXPECT_EQ(folder->find("key"), std::nullopt);
  folder->set("key", "one");
  folder->set("key", "two and more");
  EXPECT_EQ(folder->find("key"), "two and more");
  EXPECT_EQ(meeting_folder(path)->find("key"), "two and more") << "what was there stays";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 1) << "no draft is left";
  std::filesystem::remove_all(path);
  EXPECT_THAT([&] { folder->set("key", "three"); },
              ThrowsMessage<Error>("the rendezvous directory " + path.string() +
                                   " cannot be written: No such file or directory"));
}

TEST(Meeting, ARendezvousNamesAFolderOrIsRefused) {
  EXPECT_EQ(folder_of_rendezvous("file:///tmp/meet"), "/tmp/meet");
  EXPECT_EQ(folder_of_rendezvous("file:///tmp/a/../meet"), "/tmp/meet");
  for (const std::string none : {"file://", "file:///", "file:///..", "file://here", "/tmp", "", "file:"}) {
    EXPECT_THAT(
        [&] { static_cast<void>(folder_of_rendezvous(none)); },
        ThrowsMessage<Error>("rendezvous '" + none + "' names no folder; it must be file:///directory"));
  }
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
