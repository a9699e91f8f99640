#include "real/backend/shm/meeting.hpp"

#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {

ShmMeeting::ShmMeeting(const std::string& rendezvous, std::string group) : group_(std::move(group)) {
  constexpr std::string_view kFile = "file://";
  if (!rendezvous.starts_with(kFile) || rendezvous.size() <= kFile.size() ||
      rendezvous[kFile.size()] != '/') {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("rendezvous '{}' must be file:///directory: ranks of the shm backend are on one machine",
                    rendezvous));
  }
  folder_ = rendezvous.substr(kFile.size());
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw Error(ErrorKind::environment, fmt::format("the rendezvous directory {} cannot be made: {}",
                                                    folder_.string(), error.message()));
  }
}

std::filesystem::path ShmMeeting::place_of(Rank rank) const {
  return folder_ / fmt::format("{}-shm-{}", group_, rank);
}

void ShmMeeting::announce(Rank rank, const RankAddress& address) {
  const std::filesystem::path place = place_of(rank);
  std::filesystem::path draft = place;
  draft += ".draft";
  std::ofstream stream(draft);
  stream << address.process << ' ' << address.file << ' '
         << std::string_view(address.secret.data(), address.secret.size()) << '\n';
  stream.close();
  std::error_code error;
  std::filesystem::rename(draft, place, error);  // Whole at once.
  if (!stream || error) {
    throw Error(ErrorKind::environment,
                fmt::format("the rendezvous directory {} cannot be written: {}", folder_.string(),
                            error ? error.message() : errno_text()));
  }
}

RankAddress ShmMeeting::find(Rank rank) const {
  std::ifstream stream(place_of(rank));
  RankAddress address;
  std::string secret;
  if (!(stream >> address.process >> address.file >> secret) || secret.size() != address.secret.size()) {
    return {};
  }
  std::copy(secret.begin(), secret.end(), address.secret.begin());
  return address;
}

FileDescriptor open_shared_memory(const RankAddress& address) {
  return FileDescriptor(
      ::open(fmt::format("/proc/{}/fd/{}", address.process, address.file).c_str(), O_RDWR | O_CLOEXEC));
}

}  // namespace ringside
