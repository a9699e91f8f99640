#include "study/shipped_files.hpp"

#include <algorithm>
#include <array>
#include <system_error>

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

std::vector<fs::path> shipped_configs(const std::string& kind) {
  std::vector<fs::path> files;
  const std::optional<fs::path> configs = configs_directory();
  std::error_code ignored;
  if (configs && fs::is_directory(*configs / kind, ignored)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(*configs / kind)) {
      if (entry.path().extension() == ".yaml") {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace ringside::study
