#include "real/store/meeting_place.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "common/file_descriptor.hpp"
#include "real/store/tcp_store.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw lacking("the rendezvous directory {} {}", folder.string(), why);
}

uid_t owner_of(const fs::path& folder) {
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
    refuse(folder, "is no directory of its own; remove what is there");
  }
  return facts.st_uid;
}

/// A file for each key.
class Folder final : public MeetingPlace {
 public:
  explicit Folder(fs::path path) : path_(std::move(path)) {
    std::error_code error;
    fs::create_directories(path_.parent_path(), error);
    if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
      refuse(path_, "cannot be made: " + errno_text());
    }
    static_cast<void>(owner_of(path_));
  }

  /// Never through a link, and only where the folder has the owner of our files, who can exchange what is in
  /// it. (On a network file system both may be another user.)
  void set(const std::string& key, const std::string& text) override {
    std::string draft = path_ / ".draft-XXXXXX";
    const FileDescriptor opened(::mkostemp(draft.data(), O_CLOEXEC));
    struct stat facts {};
    const bool written =
        opened.open() && ::fstat(opened.number(), &facts) == 0 &&
        ::write(opened.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (written && facts.st_uid != owner_of(path_)) {
      ::unlink(draft.c_str());
      refuse(path_, "belongs to another user; meet in a folder that only you can write to");
    }
    if (!written || ::rename(draft.c_str(), (path_ / key).c_str()) != 0) {
      refuse(path_, "cannot be written: " + errno_text());
    }
  }

  std::optional<std::string> find(const std::string& key) override {
    std::ifstream stream(path_ / key);
    std::string text;
    return std::getline(stream, text) ? std::optional(text) : std::nullopt;
  }
  std::string name() const override { return path_.string(); }

 private:
  fs::path path_;
};

class Store final : public MeetingPlace {
 public:
  Store(std::string group, std::chrono::milliseconds timeout)
      : group_(std::move(group)), store_(place_, timeout) {}

  void set(const std::string& key, const std::string& text) override { store_.set(group_ + '/' + key, text); }
  std::optional<std::string> find(const std::string& key) override { return store_.find(group_ + '/' + key); }
  std::string name() const override { return text_of(place_); }

 private:
  std::string group_;
  TcpStorePlace place_ = place_of_environment();
  TcpStore store_;
};

}  // namespace

std::unique_ptr<MeetingPlace> meeting_folder(const fs::path& path) { return std::make_unique<Folder>(path); }

fs::path folder_of_rendezvous(const std::string& rendezvous) {
  constexpr std::string_view kFile = "file://";
  const fs::path folder =
      fs::path(rendezvous.substr(std::min(kFile.size(), rendezvous.size()))).lexically_normal();
  if (!rendezvous.starts_with(kFile) || !folder.is_absolute() || folder == folder.root_path()) {
    throw bad_input("rendezvous '{}' names no folder; it must be file:///directory", rendezvous);
  }
  return folder;
}

std::unique_ptr<MeetingPlace> meeting_store(const std::string& group, std::chrono::milliseconds timeout) {
  return std::make_unique<Store>(group, timeout);
}

}  // namespace ringside
