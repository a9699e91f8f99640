#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "common/index.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/external/meeting_folder.hpp"
#include "real/launch/rank_tuning.hpp"
#include "real/launch/ranks.hpp"

namespace ringside {
namespace {

/// Names of the ranks' hosts, by rank, as far as their first letters go.
std::vector<std::string> hosts_of(Coordination& coordination, Rank rank, int num_ranks) {
  constexpr std::size_t kLetters = 24;
  std::array<char, kLetters + 1> own = {};
  if (::gethostname(own.data(), own.size()) != 0) {
    own = {};
  }
  // Each rank fills its own part; what ranks can agree on is the largest of numbers.
  std::vector<double> letters(at(num_ranks) * kLetters);
  for (std::size_t i = 0; i < kLetters; ++i) {
    letters[at(rank) * kLetters + i] = static_cast<unsigned char>(own.at(i));
  }
  letters = coordination.maximum(letters);
  std::vector<std::string> hosts(at(num_ranks));
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] > 0) {
      hosts[i / kLetters] += static_cast<char>(letters[i]);
    }
  }
  return hosts;
}

class ExternalRanks final : public Ranks {
 public:
  ExternalRanks(const ExternalRank& external, const LaunchOptions& options, const std::string& purpose) {
    const bool meet_by_themselves = registered(options.backend).needs_launcher;
    if (!options.rendezvous && !meet_by_themselves) {
      throw Error(
          ErrorKind::bad_input,
          fmt::format("{} started this process as rank {} of {}; tell all of them where to meet, with "
                      "--rendezvous file:///a/directory/that/all/see or redis://host:port",
                      external.launcher, external.rank, external.num_ranks));
    }
    // A lost peer is an error to report, not a reason to die.
    ::signal(SIGPIPE, SIG_IGN);
    const std::string group =
        fmt::format("ringside-{}-{}", external.job.empty() ? "run" : external.job, purpose);
    RankPlace place = {.backend = options.backend,
                       .rank = external.rank,
                       .num_ranks = external.num_ranks,
                       .local_rank = external.local_rank,
                       .gpu = options.gpu,
                       .timeout = options.timeout,
                       .interface = options.interface,
                       .rendezvous = options.rendezvous.value_or(""),
                       .group = group};
    // A folder of this group's own can be removed as a whole.
    std::filesystem::path folder;
    if (place.rendezvous.starts_with("file://")) {
      folder = folder_of_rendezvous(*options.rendezvous) / group;
      place.rendezvous = "file://" + agree_on_folder({.path = folder,
                                                      .rank = external.rank,
                                                      .num_ranks = external.num_ranks,
                                                      .timeout = options.timeout})
                                         .string();
    }
    backend_ = join_ranks(place);
    coordination_ = std::make_unique<Coordination>(*backend_.transport);
    coordination_->barrier();
    if (!folder.empty() && external.rank == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
    coordination_->barrier();  // Nobody starts another group before this one's directory is gone.
    hosts_ = hosts_of(*coordination_, external.rank, external.num_ranks);
    if (options.tune_machine) {
      // Who has placed the ranks has bound them, too, where that was wanted.
      RankTuning().tune(*coordination_, backend_);
    }
  }

  std::string run(const Task& task) override {
    try {
      return task.kind.run(task.request, backend_, *coordination_);
    } catch (const PeerLost& lost) {
      throw PeerLost(lost.peer(), lost.how(),
                     fmt::format("{}; rank {} is on {}", lost.what(), lost.peer(), hosts_[at(lost.peer())]));
    }
  }
  double agree(double value) override { return coordination_->maximum(std::span(&value, 1)).front(); }

 private:
  RankBackend backend_;
  std::unique_ptr<Coordination> coordination_;
  std::vector<std::string> hosts_;
};

}  // namespace

std::unique_ptr<Ranks> join_external(const ExternalRank& external, const LaunchOptions& options,
                                     const std::string& purpose) {
  return std::make_unique<ExternalRanks>(external, options, purpose);
}

}  // namespace ringside
