#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

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

}  // namespace ringside
