#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/names.hpp"
#include "results/codec/reader.hpp"
#include "results/point.hpp"

/// Measurements that somebody made with another tool, read from what it printed (docs/importing.md).
namespace ringside {

/// Buffers of nccl-tests, which times each size with two buffers and again with one.
enum class Placement { out_of_place, in_place };

/// What a file leaves out, from whoever knows it.
struct ImportDefaults {
  std::optional<int> ranks = {};
  std::optional<DataType> dtype = {};  ///< none: float32
  std::optional<ReduceOp> op = {};     ///< none: sum
  /// For columns that several programs print alike.
  std::optional<Collective> collective = {};
  /// The rows of a CSV with a column `system` that count say this one; none: all do.
  std::optional<std::string> system = {};
  Placement placement = Placement::out_of_place;
  bool transfers_suffice = false;        ///< A log of transfers between two ranks alone is taken, too.
  std::uint64_t most_bytes = kMostText;  ///< A longer text is refused.
};

/// The rows of one table; of rows about one point the first. A table that repeats itself becomes several.
struct Series {
  std::size_t line = 0;            ///< Where it starts, 1-based.
  std::vector<Point> points = {};  ///< With a measurement each, in the order of the file.
};

/// From OSU or IMB between two processes: each block's best bandwidth and smallest message's time.
struct Transfers {
  std::vector<double> bytes_per_second = {};
  std::optional<Seconds> latency = {};
};

struct Import {
  std::string format = {};  ///< `nccl-tests`, `OSU`, … (docs/importing.md)
  std::vector<Series> series = {};
  Transfers transfers = {};
  std::optional<std::string> gpu = {};  ///< As the tool calls it.
  std::optional<std::string> nccl =
      {};  ///< Version of the library, as far as the file says; `RCCL 2.20.5` of RCCL.
  /// What a person should know, whole sentences: skipped rows and why, numbers that do not fit.
  std::vector<std::string> notes = {};
};

/// Takes a point: the number of its series from 0, and the line in which that starts.
using UsePoint = std::function<void(std::size_t series, std::size_t line, Point&& point)>;

/// A log that was read. A long one has a million points: they are made one by one, as often as asked for.
struct ReadLog {
  Import import = {};      ///< Without its series.
  std::size_t series = 0;  ///< How many there are.
  std::function<void(const UsePoint& use)> each_point = {};
};

/// Reads results.jsonl, text of nccl-tests, OSU and other benchmarks however wrapped, JSON of nccl-tests, and
/// CSV with named columns. Text is read line by line. Throws Error{bad_input} when it cannot be read, is no
/// text, holds nothing of the kind, or does not say the number of ranks and nobody else does.
ReadLog read_log(const std::filesystem::path& file, const ImportDefaults& defaults = {});

/// The same with all points.
Import import_measurements(const std::filesystem::path& file, const ImportDefaults& defaults = {});

/// The same for text that is already in memory; `name` is what messages call it.
Import import_text(std::string_view text, std::string_view name, const ImportDefaults& defaults = {});

/// All points of all series, one per key: of several the first. `repeated` says how many others there were.
struct Merged {
  std::vector<Point> points = {};
  std::size_t repeated = 0;
};
Merged merge(const std::vector<Series>& series);

/// What points are of: `native all_reduce (sum) of float32 on 8 ranks, 8 B to 128 MiB`.
class PointKinds {
 public:
  void add(PointKey key);
  /// One for each kind, in the order of their keys.
  std::vector<std::string> sentences() const;

 private:
  struct Sizes {
    Bytes least;
    Bytes most;
  };
  std::map<PointKey, Sizes> kinds_;  ///< By keys without bytes.
};
std::vector<std::string> describe_kinds(const std::vector<Point>& points);

}  // namespace ringside
