#include "common/programs.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace ringside {

std::string path_of_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return ::access(name.c_str(), X_OK) == 0 ? name : "";
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const std::string found = std::string(folder) + "/" + name;
    if (!folder.empty() && ::access(found.c_str(), X_OK) == 0) {
      return found;
    }
  }
  return {};
}

}  // namespace ringside
