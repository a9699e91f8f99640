#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "results/codec/page_records.hpp"
#include "results/codec/record.hpp"

/// Reads what a journal wrote, finished or killed.
namespace ringside {

struct Results {
  RunHeader header;
  /// One point per key, in order of first appearance; of several lines about a key the last that
  /// speaks of the prediction counts, and likewise of the measurement; repetitions after it are added to it.
  std::vector<Point> points;
  /// What a person should know: that a last line was cut, say. Whole sentences.
  std::vector<std::string> notes;
  /// Bytes from the start up to the end of the last complete line; what follows was cut in the middle.
  std::size_t complete_bytes = 0;
};

/// Throws Error{bad_input} naming file, line and field: no file, no run record first, another schema, a
/// second run record, a line that is no record. A last line without its line break that is not JSON is what a
/// killed run leaves: it is dropped and noted. Records of unknown kinds and unknown fields are skipped.
Results read_results(const std::filesystem::path& file);

/// The same for text that is already in memory, records or a page that holds them (page_records.hpp); `name`
/// is what messages call it.
Results parse_results(std::string_view file, std::string_view name);

/// Bytes that are read of a text that others wrote, where nobody asks for more.
inline constexpr std::uint64_t kMostText = std::uint64_t{1} << 30;

/// Throws Error{bad_input}: the text is longer than that.
[[noreturn]] void reject_long_text(std::string_view name, std::uint64_t most);

/// The stream's bytes, to its end or to the first piece beyond `most`: the size of a pipe is not known.
std::string read_beyond(std::istream& stream, std::uint64_t most);

/// The file's bytes. Throws Error{bad_input} with the system's reason, or where there are more than `most`:
/// files whose size is known are then not read at all.
std::string read_text(const std::filesystem::path& file, std::uint64_t most = kMostText);

}  // namespace ringside
