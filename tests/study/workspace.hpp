#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "study/inputs/invocation.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

/// A temporary folder with files, an invocation that writes below it, and an observer that remembers.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::filesystem::path write(const std::string& name, std::string_view text) const;
  Scenario scenario(const std::string& name, std::string_view text) const {
    return read_scenario(write(name, text));
  }
  std::filesystem::path output() const { return folder_ / "out"; }
  Invocation invocation() const { return {.output = output(), .command_line = "test"}; }
  Observer observer();
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& stages() const { return stages_; }
  /// How far each stage got, 0 … 1, in the order in which it was said.
  const std::vector<double>& fractions() const { return fractions_; }

 private:
  std::filesystem::path folder_;
  std::vector<std::string> notes_;
  std::vector<std::string> stages_;
  std::vector<double> fractions_;
};

/// Four ranks with private links of 10 GB/s and 10 µs; naive and ring.
inline constexpr std::string_view kUniform =
    "name: uniform\n"
    "algorithms: [naive, ring]\n"
    "ranks: 4\n"
    "message_sizes: [1 KiB, 8 MB]\n"
    "machine:\n"
    "  intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n";

}  // namespace ringside::study
