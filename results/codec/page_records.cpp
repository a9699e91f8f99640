#include "results/codec/page_records.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sha256.h>

#include "common/failures.hpp"
#include "common/text.hpp"

namespace ringside {

constexpr std::string_view kStart = "<script type=\"application/jsonl\" id=\"records\" data-sha256=\"";
constexpr std::string_view kEnd = "</script>\n";

std::string json_for_page(std::string_view json) {
  return fmt::format("{}", fmt::join(split(json, '<'), "\\u003c"));
}

std::string sha256(std::string_view bytes) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits = {};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), digits.data());
  return digits.data();
}

std::string records_element(std::string_view records) {
  const std::string text = json_for_page(records);
  return fmt::format("{}{}\">\n{}{}", kStart, sha256(text), text, kEnd);
}

std::string_view records_in(std::string_view text, std::string_view name) {
  if (!text.starts_with(kPageStart)) {
    return text;
  }
  const std::size_t start = text.find(kStart);
  const std::size_t first = text.find('\n', start) + 1;
  const std::size_t end = text.find(kEnd, start);
  if (end == std::string_view::npos || end < first) {
    throw bad_input("{}: is a report without its records: it was cut or edited", name);
  }
  const std::string_view records = text.substr(first, end - first);
  if (text.substr(start, end + kEnd.size() - start) != records_element(records)) {
    throw bad_input("{}: is a report whose records were changed: their SHA-256 is another", name);
  }
  return records;
}

}  // namespace ringside
