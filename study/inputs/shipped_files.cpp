#include "study/inputs/shipped_files.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "common/error.hpp"
#include "scenario/scenario.hpp"

namespace ringside::study {

namespace fs = std::filesystem;

std::optional<fs::path> configs_directory() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::array candidates = {fs::path("configs"), program / "../../configs",
                                 program / "../share/ringside/configs", program / "../configs",
                                 program / "configs"};
  for (const fs::path& candidate : candidates) {
    if (fs::is_directory(candidate / "machines", ignored)) {
      return candidate.lexically_normal();
    }
  }
  return std::nullopt;
}

std::string missing_files(const std::string& kind) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return fmt::format(
      "the {} that come with ringside (the folder configs/{}) are not where {} looks for them; copy "
      "configs/ beside the program, or run it where configs/ is",
      kind, kind, program.string());
}

std::vector<fs::path> shipped_configs(const std::string& kind) {
  const std::optional<fs::path> configs = configs_directory();
  std::error_code ignored;
  if (!configs || !fs::is_directory(*configs / kind, ignored)) {
    throw Error(ErrorKind::environment, missing_files(kind));
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(*configs / kind)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

const std::vector<std::pair<std::string, Machine>>& shipped_machines() {
  static const std::vector<std::pair<std::string, Machine>> machines = [] {
    std::vector<std::pair<std::string, Machine>> read;
    for (const fs::path& file : shipped_configs("machines")) {
      read.emplace_back(file.stem().string(), load_machine(file));
    }
    return read;
  }();
  return machines;
}

}  // namespace ringside::study
