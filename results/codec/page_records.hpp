#pragma once

#include <string>
#include <string_view>

/// Records inside an HTML page: report.html carries the JSON Lines that it was made from.
namespace ringside {

/// How a page of ours begins. Nobody else's does.
inline constexpr std::string_view kPageStart =
    "<!DOCTYPE html>\n<html lang=\"en\" data-holds=\"ringside/1\">\n";
inline constexpr std::string_view kRecordsStart = "<script type=\"application/jsonl\" id=\"records\">\n";
inline constexpr std::string_view kRecordsEnd = "</script>\n";

/// JSON that can stand in a script element: `<`, which JSON has in strings alone, becomes `\u003c`. It reads
/// back as the same values.
std::string json_for_page(std::string_view json);

/// The records of a page of ours; any other text as it is. Throws Error{bad_input} that says what is missing,
/// not the file, for a page that was cut.
std::string_view records_in(std::string_view text);

}  // namespace ringside
