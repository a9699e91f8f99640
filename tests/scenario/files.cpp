#include "files.hpp"

#include <atomic>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/error.hpp"

namespace ringside::test {
namespace {

template <typename Load>
std::vector<std::string> problems_of(const std::filesystem::path& folder, Load load) {
  try {
    load();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    std::vector<std::string> lines;
    std::istringstream text(error.what());
    const std::string prefix = folder.string() + "/";
    for (std::string line; std::getline(text, line);) {
      EXPECT_TRUE(line.starts_with(prefix)) << line;
      lines.push_back(line.substr(std::min(prefix.size(), line.size())));
    }
    return lines;
  }
  return {};
}

}  // namespace

Folder::Folder() {
  static std::atomic<int> count = 0;
  path_ = std::filesystem::temp_directory_path() / fmt::format("ringside-test-{}-{}", getpid(), count++);
  std::filesystem::create_directories(path_);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Folder::write(const std::filesystem::path& name, std::string_view text) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

KnownNames known_names() {
  return {.algorithms = [](Collective collective) {
    return collective == Collective::all_reduce
               ? std::vector<std::string>{"naive", "circulating_ring", "tutorial_ring",
                                          "ring",  "halving_doubling", "native"}
               : std::vector<std::string>{"direct", "ring", "native"};
  }};
}

Scenario scenario_of(std::string_view text) {
  const Folder folder;
  return load_scenario(folder.write("case.yaml", text), known_names());
}

Machine machine_of(std::string_view text) {
  const Folder folder;
  return load_machine(folder.write("case.yaml", text));
}

std::vector<std::string> scenario_problems(std::string_view text) {
  const Folder folder;
  folder.write("case.yaml", text);
  return scenario_problems_in(folder, "case.yaml");
}

std::vector<std::string> scenario_problems_in(const Folder& folder, const std::filesystem::path& name) {
  return problems_of(folder.path(), [&] { load_scenario(folder.path() / name, known_names()); });
}

std::vector<std::string> machine_problems(std::string_view text) {
  const Folder folder;
  const std::filesystem::path file = folder.write("case.yaml", text);
  return problems_of(folder.path(), [&] { load_machine(file, known_names()); });
}

std::string scenario_with(std::string_view rest) {
  std::string text;
  for (const std::string_view line : {"ranks: 4", "message_sizes: 1 MiB", "machine: this"}) {
    const std::string key(line.substr(0, line.find(':') + 1));
    if (("\n" + std::string(rest)).find("\n" + key) == std::string::npos) {
      text += std::string(line) + "\n";
    }
  }
  return text + std::string(rest);
}

}  // namespace ringside::test
