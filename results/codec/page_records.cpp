#include "results/codec/page_records.hpp"

#include "common/error.hpp"

namespace ringside {

std::string json_for_page(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    c == '<' ? text += "\\u003c" : text += c;
  }
  return text;
}

std::string_view records_in(std::string_view text) {
  if (!text.starts_with(kPageStart)) {
    return text;
  }
  const std::size_t start = text.find(kRecordsStart);
  const std::size_t end = start == std::string_view::npos ? start : text.find(kRecordsEnd, start);
  if (end == std::string_view::npos) {
    throw Error(ErrorKind::bad_input, "is a report without its records: it was cut or edited");
  }
  return text.substr(start + kRecordsStart.size(), end - start - kRecordsStart.size());
}

}  // namespace ringside
