#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"

/// What the tests of this module share: YAML in files of a scratch folder, and what the loader says of it.
namespace ringside::test {

/// Removed with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Makes folders as needed.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

/// Names of algorithms as a registry would give them.
KnownNames known_names();

/// Loads `text` as `case.yaml`.
Scenario scenario_of(std::string_view text);
Machine machine_of(std::string_view text);

/// The problems of a file without the folder in front: `case.yaml:3:1: ranks: …`. Empty without any.
std::vector<std::string> scenario_problems(std::string_view text);
std::vector<std::string> machine_problems(std::string_view text);
std::vector<std::string> scenario_problems_in(const Folder& folder, const std::filesystem::path& name);

/// A complete scenario but for what `rest` adds or replaces: keys in it are left out of the usual ones.
std::string scenario_with(std::string_view rest);

}  // namespace ringside::test
