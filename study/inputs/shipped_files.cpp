#include "study/inputs/shipped_files.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "scenario/scenario.hpp"
#include "sim/topology/gpu_models.hpp"

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
  std::ranges::sort(files);
  return files;
}

const std::vector<ShippedMachine>& shipped_machines() {
  static const std::vector<ShippedMachine> known = [] {
    std::vector<ShippedMachine> machines;
    for (const fs::path& file : shipped_configs("machines")) {
      Machine machine = load_machine(file);
      const auto gpu = find_gpu_sheet(machine);
      machines.push_back({.name = file.stem().string(), .machine = std::move(machine), .gpu = gpu});
    }
    return machines;
  }();
  return known;
}

}  // namespace ringside::study
