#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/units.hpp"

/// How ranks that a launcher has started find each other, before they are connected.
namespace ringside {

/// Texts by key that all ranks see, with what earlier runs have left there.
class MeetingPlace {
 public:
  virtual ~MeetingPlace() = default;
  /// Whole or not at all, for those who look for it.
  virtual void set(const std::string& key, const std::string& text) = 0;
  /// None as long as nobody has set it.
  virtual std::optional<std::string> find(const std::string& key) = 0;
  /// For messages.
  virtual std::string name() const = 0;
};

/// A folder, which is made. Throws Error{environment} when it cannot be written, or others can write to it.
std::unique_ptr<MeetingPlace> meeting_folder(const std::filesystem::path& path);
/// The folder of "file:///folder". Throws Error{bad_input} for relative ones and for `/`.
std::filesystem::path folder_of_rendezvous(const std::string& rendezvous);
/// The TCPStore that the environment tells, keys below `group`. Throws as TcpStore does.
std::unique_ptr<MeetingPlace> meeting_store(const std::string& group, std::chrono::milliseconds timeout);

struct Meeting {
  Rank rank = 0;
  int num_ranks = 1;
  std::chrono::milliseconds timeout{60'000};
};

/// Called by all ranks at once: a name that no earlier run has used, the same at all of them. What a run that
/// was killed has left is passed over. Throws Error{bad_input} when ranks differ in how many they are or two
/// are the same, and Error{peer_lost} when others do not come in time.
std::string agree_on_name(MeetingPlace& place, const Meeting& meeting);

}  // namespace ringside
