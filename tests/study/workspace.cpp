#include "tests/study/workspace.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace ringside::study {

Workspace::Workspace() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ringside-study-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  folder_ = pattern;
}

Workspace::~Workspace() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::filesystem::path Workspace::write(const std::string& name, std::string_view text) const {
  const std::filesystem::path file = folder_ / name;
  std::ofstream(file) << text;
  return file;
}

Observer Workspace::observer() {
  Observer observer;
  observer.note = [this](std::string_view sentence) { notes_.emplace_back(sentence); };
  observer.stage = [this](std::string_view what) { stages_.emplace_back(what); };
  observer.progress = [this](double fraction, std::string_view) { fractions_.push_back(fraction); };
  return observer;
}

}  // namespace ringside::study
