#include "real/launch/external/meeting.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "real/execute/transport.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

// Every rank but 0 greets with a word of its own. Rank 0 answers all words, old ones too, with the name of
// this meeting, and only who has read that counts as met. So nobody who is no longer there does. When all
// have met, or one is found wrong, rank 0 says so to all.
constexpr std::chrono::milliseconds kBetweenLooks{5};
/// Where one is wrong, the others have so long to come and hear it.
constexpr std::chrono::seconds kMoment{1};
constexpr int kMostRanks = 1 << 16;
constexpr const char* kAllMet = "all met";

std::string random_word() {
  const Secret secret = make_secret();
  return {secret.begin(), secret.end()};
}

std::string greeting_of(Rank rank) { return fmt::format("greeting-{}", rank); }
std::string answer_to(const std::string& word) { return "answer-" + word; }
std::string presence(const std::string& name, Rank rank) { return fmt::format("{}-rank-{}", name, rank); }
std::string verdict(const std::string& name) { return name + "-verdict"; }

Error not_met(const MeetingPlace& place, const RankPlace& own, Rank other) {
  return {ErrorKind::peer_lost, fmt::format("rank {} did not meet rank {} within {} at {}", own.rank, other,
                                            text_of(own.timeout), place.name())};
}

Error doubled(Rank rank) { return bad_input("two processes say that they are rank {}", rank); }

std::string host(MeetingPlace& place, const RankPlace& own) {
  const std::string name = random_word();
  Clock::time_point end = Clock::now() + own.timeout;
  std::set<std::string> answered;
  std::optional<Error> fault;
  int known = 0;  ///< Ranks, as another one was told.
  std::vector<Rank> missing(static_cast<std::size_t>(own.num_ranks - 1));
  std::iota(missing.begin(), missing.end(), 1);
  const auto has_met = [&](Rank rank) {
    const std::string greeting = place.find(greeting_of(rank)).value_or("");
    if (!greeting.empty() && answered.insert(greeting).second) {
      place.set(answer_to(greeting.substr(0, greeting.find(' '))), name);
    }
    const std::string met = place.find(presence(name, rank)).value_or("");
    const std::string told = met.substr(met.rfind(' ') + 1);
    if (!met.empty() && !fault && (met != greeting || told != std::to_string(own.num_ranks))) {
      fault = met != greeting
                  ? doubled(rank)
                  : Error(ErrorKind::bad_input,
                          fmt::format("rank {} was told of {} ranks, and rank 0 of {}; WORLD_SIZE "
                                      "must be the same for all",
                                      rank, told, own.num_ranks));
      end = std::min(end, Clock::now() + kMoment);
      known = std::min(parse_number<int>(told).value_or(0), kMostRanks);
    }
    return !met.empty();
  };
  const auto meet = [&] {
    while (std::erase_if(missing, has_met), !missing.empty() && Clock::now() < end) {
      std::this_thread::sleep_for(kBetweenLooks);
    }
  };
  meet();
  // Ranks that only the others know shall hear it, too.
  for (Rank rank = own.num_ranks; rank < known; ++rank) {
    missing.push_back(rank);
  }
  meet();
  if (!missing.empty() && !fault) {
    fault = not_met(place, own, missing.front());
  }
  place.set(verdict(name),
            fault ? fmt::format("{}{}", static_cast<int>(fault->kind()), fault->what()) : kAllMet);
  if (fault) {
    throw Error(*fault);
  }
  return name;
}

std::string join(MeetingPlace& place, const RankPlace& own) {
  const std::string word = random_word();
  const std::string greeting = fmt::format("{} of {}", word, own.num_ranks);
  const auto hear = [&](const std::string& key, std::chrono::milliseconds timeout) {
    for (const Clock::time_point end = Clock::now() + timeout; Clock::now() < end;) {
      if (const std::optional<std::string> text = place.find(key)) {
        return *text;
      }
      if (place.find(greeting_of(own.rank)).value_or(greeting) != greeting) {
        throw doubled(own.rank);
      }
      std::this_thread::sleep_for(kBetweenLooks);
    }
    throw not_met(place, own, 0);
  };
  place.set(greeting_of(own.rank), greeting);
  std::string name = hear(answer_to(word), own.timeout);
  place.set(presence(name, own.rank), greeting);
  // Rank 0 waits as long for the others: it has the first word.
  if (const std::string said = hear(verdict(name), own.timeout + kMoment); said != kAllMet) {
    throw Error(static_cast<ErrorKind>(said[0] - '0'), said.substr(1));
  }
  return name;
}

}  // namespace

std::string agree_on_name(MeetingPlace& place, const RankPlace& own) {
  return own.rank == 0 ? host(place, own) : join(place, own);
}

}  // namespace ringside
