#include "target.hpp"

#include <cstdlib>
#include <fstream>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "common/error.hpp"
#include "tests/paths.hpp"

namespace ringside::fuzz {
namespace {

/// A folder that goes with the process; what ends in a crash leaves it to whoever gave TMPDIR.
class OwnFolder {
 public:
  OwnFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ringside-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), pattern);
    }
    path_ = pattern;
  }
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::vector<Target> all_targets() {
  std::vector<Target> targets;
  for (const std::span<const Target> group :
       {yaml_targets(), log_targets(), machine_log_targets(), table_targets(), lab_targets(),
        message_targets(), schedule_targets()}) {
    targets.insert(targets.end(), group.begin(), group.end());
  }
  return targets;
}

std::optional<std::string> fault_of(const Target& target, std::string_view text) {
  // As main() of the program answers.
  try {
    target.run(text);
  } catch (const Error&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;
  } catch (const std::exception& error) {
    return fmt::format("{}: {}", target.name, error.what());
  }
  return std::nullopt;
}

void require(bool holds, const std::string& what) {
  if (!holds) {
    throw WrongReading(what);
  }
}

std::filesystem::path as_file(std::string_view text) {
  static const OwnFolder kFolder;
  const std::filesystem::path file = kFolder.path() / "input.yaml";
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  return file;
}

std::filesystem::path source_folder() { return RINGSIDE_SOURCE_DIR; }

}  // namespace ringside::fuzz
