#pragma once

#include <string>
#include <string_view>

/// Records inside an HTML page: report.html carries the JSON Lines that it was made from.
namespace ringside {

/// How a page of ours begins. Nobody else's does.
inline constexpr std::string_view kPageStart =
    "<!DOCTYPE html>\n<html lang=\"en\" data-holds=\"ringside/1\">\n";

/// JSON that can stand in a script element: `<`, which JSON has in strings alone, becomes `\u003c`. It reads
/// back as the same values.
std::string json_for_page(std::string_view json);

/// SHA-256 of the bytes, in 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// The element that holds JSON Lines, with their SHA-256 as they stand in it.
std::string records_element(std::string_view records);

/// The records of a page of ours; any other text as it is. Throws Error{bad_input}, in which it has this
/// name, for a page that was cut, or whose records were changed.
std::string_view records_in(std::string_view text, std::string_view name);

}  // namespace ringside
