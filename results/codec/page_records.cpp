#include "results/codec/page_records.hpp"

#include <array>

#include <sha256.h>

#include "common/error.hpp"

namespace ringside {
namespace {

constexpr std::string_view kStart = "<script type=\"application/jsonl\" id=\"records\" data-sha256=\"";
constexpr std::string_view kAfterDigest = "\">\n";
constexpr std::string_view kEnd = "</script>\n";
constexpr std::size_t kDigest = 64;

}  // namespace

std::string json_for_page(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    c == '<' ? text += "\\u003c" : text += c;
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits = {};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), digits.data());
  return digits.data();
}

std::string records_element(std::string_view records) {
  const std::string text = json_for_page(records);
  return std::string(kStart) + sha256(text) + std::string(kAfterDigest) + text + std::string(kEnd);
}

std::string_view records_in(std::string_view text) {
  if (!text.starts_with(kPageStart)) {
    return text;
  }
  const std::size_t start = text.find(kStart);
  const std::size_t end = text.find(kEnd, start);
  const std::size_t before = kStart.size() + kDigest + kAfterDigest.size();
  if (end == std::string_view::npos || end < start + before) {
    throw Error(ErrorKind::bad_input, "is a report without its records: it was cut or edited");
  }
  const std::string_view records = text.substr(start + before, end - start - before);
  if (sha256(records) != text.substr(start + kStart.size(), kDigest)) {
    throw Error(ErrorKind::bad_input, "is a report whose records were changed: their SHA-256 is another");
  }
  return records;
}

}  // namespace ringside
