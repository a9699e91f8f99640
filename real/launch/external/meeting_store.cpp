#include "real/launch/external/meeting_store.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "real/execute/transport.hpp"
#include "real/store/tcp_store.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

// As in a folder (meeting_folder.cpp): every rank but 0 greets, rank 0 answers all, old ones too, with the
// name of this meeting, and only who has read that counts as met. When all have met, or one is found wrong,
// rank 0 says so to all.
constexpr std::chrono::milliseconds kBetweenLooks{5};
constexpr std::chrono::seconds kMoment{1};
/// Each process adds to what stands of its rank this, and of how many ranks it was told.
constexpr std::int64_t kProcess = std::int64_t{1} << 32;

std::string presence(const std::string& name, Rank rank) { return fmt::format("{}/rank-{}", name, rank); }
std::string verdict(const std::string& name) { return name + "/verdict"; }

/// What is wrong with what processes have added as this rank; empty where nothing is.
std::string fault_of(Rank rank, std::int64_t added, int num_ranks) {
  if (added / kProcess > 1) {
    return fmt::format("two processes say that they are rank {}", rank);
  }
  return added % kProcess == num_ranks
             ? ""
             : fmt::format(
                   "rank {} was told of {} ranks, and rank 0 of {}; WORLD_SIZE must be the same for all",
                   rank, added % kProcess, num_ranks);
}

/// None once all have come. Where one is wrong, the others have a moment to come and hear it.
std::optional<Error> fault_of_any(TcpStore& store, const StoreMeeting& meeting, const std::string& name) {
  Clock::time_point end = Clock::now() + meeting.timeout;
  std::optional<Error> fault;
  const std::string greetings = meeting.group + "/greetings";
  std::int64_t answered = 0;
  for (Rank rank = 1; rank < meeting.num_ranks;) {
    if (const std::int64_t added = store.add(presence(name, rank), 0); added != 0) {
      if (const std::string found = fault_of(rank, added, meeting.num_ranks); !found.empty() && !fault) {
        fault.emplace(ErrorKind::bad_input, found);
        end = std::min(end, Clock::now() + kMoment);
      }
      ++rank;
      continue;
    }
    for (const std::int64_t all = store.add(greetings, 0); answered < all;) {
      store.set(fmt::format("{}/answer-{}", meeting.group, ++answered), name);
    }
    if (Clock::now() > end) {
      return fault ? fault
                   : Error(ErrorKind::peer_lost,
                           fmt::format("rank 0 did not meet rank {} within {} at {}", rank,
                                       text_of(meeting.timeout), text_of(place_of_environment())));
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return fault;
}

std::string host(TcpStore& store, const StoreMeeting& meeting) {
  const Secret random = make_secret();
  const std::string name =
      fmt::format("{}/{}-of-{}", meeting.group, std::string(random.begin(), random.end()), meeting.num_ranks);
  const std::optional<Error> fault = fault_of_any(store, meeting, name);
  store.set(verdict(name), fault ? fmt::format("{}{}", static_cast<int>(fault->kind()), fault->what()) : "");
  if (fault) {
    throw Error(*fault);
  }
  return name;
}

std::string join(TcpStore& store, const StoreMeeting& meeting) {
  const std::int64_t greeting = store.add(meeting.group + "/greetings", 1);
  const std::string name = store.get(fmt::format("{}/answer-{}", meeting.group, greeting));
  const std::int64_t added = store.add(presence(name, meeting.rank), kProcess + meeting.num_ranks);
  const int told = parse_number<int>(name.substr(name.rfind('-') + 1)).value_or(0);
  if (const std::string fault = fault_of(meeting.rank, added, told); !fault.empty()) {
    throw Error(ErrorKind::bad_input, fault);
  }
  if (const std::string fault = store.get(verdict(name)); !fault.empty()) {
    throw Error(static_cast<ErrorKind>(fault[0] - '0'), fault.substr(1));
  }
  return name;
}

}  // namespace

std::unique_ptr<TcpStoreServer> serve_store(const StoreMeeting& meeting) {
  const TcpStorePlace place = place_of_environment();
  return place.served || meeting.rank != 0 ? nullptr : std::make_unique<TcpStoreServer>(place.port);
}

std::string agree_on_name(const StoreMeeting& meeting) {
  TcpStore store(place_of_environment(), meeting.timeout);
  return meeting.rank == 0 ? host(store, meeting) : join(store, meeting);
}

}  // namespace ringside
