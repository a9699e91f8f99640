#include "real/launch/external/meeting_folder.hpp"

#include <cerrno>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.hpp"
#include "common/file_descriptor.hpp"
#include "real/execute/transport.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

// Every rank but 0 greets with its own number, rank 0 answers all, old ones too, with the name of this
// meeting, and only who has read that acknowledges it. So nobody who is no longer there counts as met.
constexpr std::string_view kGreeting = "greeting-";
constexpr const char* kAnswer = "answer-";
constexpr std::chrono::milliseconds kPoll{5};
constexpr std::string_view kFile = "file://";

std::string random_name() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

uid_t owner_of(const fs::path& directory) {
  struct stat facts {};
  if (::lstat(directory.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
    throw Error(ErrorKind::environment,
                fmt::format("the rendezvous directory {} is no directory of its own; remove what is there",
                            directory.string()));
  }
  return facts.st_uid;
}

/// Whole or not at all, for those who read it. Never through a link, and only where the directory has the
/// owner of our files, who can exchange what is in it. (On a network file system both may be another user.)
void write_file(const fs::path& file, const std::string& text) {
  const fs::path directory = file.parent_path();
  const fs::path draft = directory / (".draft-" + file.filename().string());
  const FileDescriptor opened(
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat facts {};
  const bool written =
      opened.open() && ::fstat(opened.number(), &facts) == 0 &&
      ::write(opened.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (written && facts.st_uid != owner_of(directory)) {
    ::unlink(draft.c_str());
    throw Error(ErrorKind::environment,
                fmt::format("the rendezvous directory {} belongs to another user; meet in "
                            "a folder that only you can write to",
                            directory.string()));
  }
  if (!written || ::rename(draft.c_str(), file.c_str()) != 0) {
    throw Error(ErrorKind::environment, fmt::format("the rendezvous directory {} cannot be written: {}",
                                                    directory.string(), errno_text()));
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
    fs::create_directories(folder.path.parent_path(), error);
    if (::mkdir(folder.path.c_str(), 0700) != 0 && errno != EEXIST) {
      throw Error(ErrorKind::environment, fmt::format("the rendezvous directory {} cannot be made: {}",
                                                      folder.path.string(), errno_text()));
    }
    static_cast<void>(owner_of(folder.path));
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
