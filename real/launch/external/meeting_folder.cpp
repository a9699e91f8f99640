#include "real/launch/external/meeting_folder.hpp"

#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/execute/transport.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

// Every rank but 0 greets with a number of its own, rank 0 answers every greeting, old ones too, with the name of this
// meeting, and only who has read that acknowledges it. So nobody who is no longer there counts as met.
constexpr std::string_view kGreeting = "greeting-";
constexpr const char* kAnswer = "answer-";
constexpr std::chrono::milliseconds kPoll{5};
constexpr std::string_view kFile = "file://";

std::string random_name() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

/// Whole or not at all, for those who read it.
void write_file(const fs::path& file, const std::string& text) {
  const fs::path draft = file.parent_path() / (".draft-" + file.filename().string());
  std::ofstream stream(draft);
  stream << text;
  stream.close();
  std::error_code error;
  if (stream) {
    fs::rename(draft, file, error);
  }
  if (!stream || error) {
    throw Error(ErrorKind::environment,
                fmt::format("the rendezvous directory {} cannot be written", file.parent_path().string()));
  }
}

std::optional<std::string> read_file(const fs::path& file) {
  std::ifstream stream(file);
  std::string text;
  return std::getline(stream, text) ? std::optional(text) : std::nullopt;
}

class Meeting {
 public:
  explicit Meeting(const MeetingFolder& folder)
      : folder_(folder), deadline_(std::chrono::steady_clock::now() + folder.timeout) {
    std::error_code error;
    fs::create_directories(folder.path, error);
    if (error) {
      throw Error(ErrorKind::environment, fmt::format("the rendezvous directory {} cannot be made: {}",
                                                      folder.path.string(), error.message()));
    }
  }

  std::string host() {
    const std::string name = random_name();
    std::set<std::string> answered;
    for (Rank rank = 1; rank < folder_.num_ranks;) {
      if (fs::exists(acknowledgement(name, rank))) {
        ++rank;
        continue;
      }
      for (const auto& entry : fs::directory_iterator(folder_.path)) {
        const std::string file = entry.path().filename().string();
        if (file.starts_with(kGreeting) && answered.insert(file).second) {
          write_file(folder_.path / (kAnswer + file.substr(kGreeting.size())), name);
        }
      }
      wait_for(rank);
    }
    return name;
  }

  std::string join() {
    const std::string greeting = random_name();
    write_file(folder_.path / fmt::format("{}{}", kGreeting, greeting), "");
    std::optional<std::string> name;
    while (!(name = read_file(folder_.path / (kAnswer + greeting)))) {
      wait_for(0);
    }
    write_file(acknowledgement(*name, folder_.rank), "");
    return *name;
  }

 private:
  fs::path acknowledgement(const std::string& name, Rank rank) const {
    return folder_.path / fmt::format("met-{}-{}", name, rank);
  }

  void wait_for(Rank rank) const {
    if (std::chrono::steady_clock::now() > deadline_) {
      throw Error(ErrorKind::peer_lost,
                  fmt::format("rank {} did not meet rank {} within {} at {}", folder_.rank, rank,
                              text_of(folder_.timeout), folder_.path.string()));
    }
    std::this_thread::sleep_for(kPoll);
  }

  const MeetingFolder& folder_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace

fs::path agree_on_folder(const MeetingFolder& folder) {
  Meeting meeting(folder);
  return folder.path / (folder.rank == 0 ? meeting.host() : meeting.join());
}

fs::path folder_of_rendezvous(const std::string& rendezvous) {
  const fs::path folder = fs::path(rendezvous.substr(kFile.size())).lexically_normal();
  if (!folder.is_absolute() || folder == folder.root_path()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("rendezvous '{}' names no folder; it must be file:///directory", rendezvous));
  }
  return folder;
}

}  // namespace ringside
