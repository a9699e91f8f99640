// OSU micro-benchmarks, osu_allreduce and its siblings (mvapich.cse.ohio-state.edu/benchmarks):
//
//   # OSU MPI-CUDA Allreduce Latency Test v7.3
//   # Datatype: MPI_CHAR.
//   # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
//   4                       5.12              4.98              5.30        1000

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "results/import_parts.hpp"

namespace ringside {
namespace {

struct OsuName {
  std::string_view spelt;
  Collective collective;
};
// `Reduce_scatter` stands before `Reduce`, which it contains.
constexpr auto kNames = std::to_array<OsuName>({{"Allreduce", Collective::all_reduce},
                                                {"Reduce_scatter", Collective::reduce_scatter},
                                                {"Allgather", Collective::all_gather},
                                                {"Broadcast", Collective::broadcast},
                                                {"Reduce", Collective::reduce},
                                                {"Gather", Collective::gather}});

std::optional<DataType> mpi_dtype(std::string_view line) {
  constexpr auto kTypes = std::to_array<std::pair<std::string_view, DataType>>(
      {{"MPI_FLOAT", DataType::float32}, {"MPI_DOUBLE", DataType::float64}, {"MPI_INT", DataType::int32}});
  for (const auto& [spelt, dtype] : kTypes) {
    if (line.find(spelt) != std::string_view::npos) {
      return dtype;
    }
  }
  return std::nullopt;
}

}  // namespace

void OsuReader::read(std::size_t line_number, std::string_view line) {
  if (line.find("OSU MPI") != std::string_view::npos) {
    in_table_ = false;
    dtype_.reset();
    collective_.reset();
    for (const OsuName& name : kNames) {
      if (!collective_ && line.find(name.spelt) != std::string_view::npos) {
        collective_ = name.collective;
      }
    }
    return;
  }
  if (line.find("Datatype:") != std::string_view::npos) {
    dtype_ = mpi_dtype(line);
    return;
  }
  if (line.find("Size") != std::string_view::npos && line.find("Avg Latency(us)") != std::string_view::npos) {
    in_table_ = true;
    tables_.push_back({.line = line_number});
    return;
  }
  if (!in_table_) {
    return;
  }
  // Size and mean are the first two numbers in a row; what stands in front of them (`[1,0]<stdout>:`) is no number.
  const auto words = words_of(line);
  std::size_t at = 0;
  while (at < words.size() && !whole_in_word(words[at])) {
    ++at;
  }
  if (at == words.size() || words[0] == "#") {
    in_table_ = in_table_ && words.empty();
    return;
  }
  const auto microseconds = at + 1 < words.size() ? number_in_word(words[at + 1]) : std::nullopt;
  if (!microseconds || !(*microseconds > 0)) {
    skipped_.add(line_number, "the row is cut");
    return;
  }
  if (!collective_) {
    skipped_.add(line_number, "the collective of this OSU test is none of ringside's");
    return;
  }
  const std::int64_t bytes = *whole_in_word(words[at]);
  if (bytes == 0) {
    skipped_.add(line_number, "a message of 0 bytes");
    return;
  }
  ImportedRow row{.line = line_number,
                  .collective = collective_,
                  .dtype = dtype_,
                  .bytes = bytes,
                  .measurement = {.seconds = {*microseconds * 1e-6}, .backend = Backend::mpi}};
  // `-f`: the least, the most and the number of iterations.
  if (const auto iterations = at + 4 < words.size() ? whole_in_word(words[at + 4]) : std::nullopt) {
    row.measurement.iterations = static_cast<int>(std::min<std::int64_t>(*iterations, 1'000'000'000));
  }
  if (words.back() == "Fail") {
    row.measurement = {
        .outcome = Outcome::wrong_result, .backend = Backend::mpi, .note = "OSU's validation failed"};
  }
  tables_.back().rows.push_back(std::move(row));
}

std::vector<ImportedTable> OsuReader::finish(Import& import) {
  const auto skipped = skipped_.sentences();
  import.notes.insert(import.notes.end(), skipped.begin(), skipped.end());
  return std::move(tables_);
}

}  // namespace ringside
