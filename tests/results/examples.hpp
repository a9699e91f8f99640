#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "results/codec/record.hpp"

/// Records for tests, and a folder to write them in.
namespace ringside::examples {

RunHeader header();
PointKey key(std::string algorithm, int ranks, std::int64_t bytes);
/// Predicted and measured, no field omitted.
Point full_point();
/// The same, measured by ranks that share a GPU.
Point gpu_point();
/// One record of each kind in which every field is present (a measurement that is not ok has another line).
std::vector<Record> full_records();
/// A header, a measured point for each of whole_file_keys() and a record that follows from them, as lines;
/// short, because tests cut it at every byte.
std::string whole_file();
std::vector<PointKey> whole_file_keys();

/// A fresh folder that goes away with the test.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& file, std::string_view text);

/// The message of the Error{kind} that `action` throws; empty when it throws nothing or another kind.
template <typename Action>
std::string message_of(ErrorKind kind, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind() == kind ? error.what() : "";
  }
  return "";
}

}  // namespace ringside::examples
