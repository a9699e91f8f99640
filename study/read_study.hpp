#pragma once

#include <filesystem>
#include <string>

#include "results/codec/record.hpp"
#include "study/predict.hpp"

namespace ringside::study {

/// A study that was written down, the run that it was of, and its records as JSON Lines.
struct WrittenStudy {
  RunHeader header;
  PointStudy study;
  std::string records = {};
  std::vector<std::string> notes = {};  ///< As in Results.
};

/// Reads results.jsonl, predictions.jsonl or a report.html, and draws the conclusions anew. Throws
/// Error{bad_input} as read_results(), and where the file has no point.
WrittenStudy read_study(const std::filesystem::path& file, bool fitted = false);

/// Whether a file begins as those do: with a record, or as a page of ours.
bool holds_results(const std::filesystem::path& file);

/// The records of a page that people forward: as they are, or where they are longer than `most` bytes with a
/// part of each point's samples; a sentence then says so, otherwise it is empty.
struct PageRecords {
  std::string text;
  std::string thinned = {};
};
PageRecords records_for_page(const WrittenStudy& written, std::size_t most);

}  // namespace ringside::study
