#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.hpp"

/// What sentences and cells of tables are made of, each written in one way; percentages are in numbers.hpp.
namespace ringside {

/// `1 rank`, `2 ranks`; `many` where an s is not enough: `2 processes`.
std::string count_of(const std::string& number, std::string_view one, std::string_view many = {});

template <std::integral N>
std::string count_of(N number, std::string_view one, std::string_view many = {}) {
  return count_of(std::to_string(number), one, many);
}

/// What is numbered without gaps: `chunk 3`, `chunks 3–5`; without a noun `3`, `3–5`.
std::string consecutive(std::string_view noun, std::int64_t first, std::int64_t last,
                        std::string_view between = "–");

/// `4 KiB to 1 GiB`; said once where both ends read alike.
std::string from_to(std::string_view low, std::string_view high);

template <typename Quantity>
requires requires(Quantity quantity) { format(quantity); }
std::string from_to(Quantity low, Quantity high) { return from_to(format(low), format(high)); }

/// The first `most` of them, and how many more there are: `a, b and 3 more`.
std::string first_few(std::span<const std::string> all, std::size_t most, std::string_view separator = ", ");

/// A header that begins with `>` stands right, one with `?` may be left out where there is little room.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// How many times as much: `1.25×`.
std::string factor_text(double factor, int decimals = 2);

/// Three digits: `13.5 GB`.
std::string in_gb(Bytes size);

/// `12.50`, below one with three decimals `0.125`.
std::string money_text(double amount);

/// Without what stands of `blanks` at either end.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n\v\f");

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether the word is among these.
bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);

/// What stands between characters for which `is_blank` holds; no word is empty.
std::vector<std::string> words_of(std::string_view text, bool (*is_blank)(char));

/// Parts between separators, empty ones too.
std::vector<std::string_view> split(std::string_view text, char separator);

/// ASCII letters alone change.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

/// Bytes of the UTF-8 character (RFC 3629) that `text` begins with; 0 where it begins with none.
std::size_t character_length(std::string_view text);

/// The text with U+FFFD for each byte that is no UTF-8. Texts of others pass here where they enter.
std::string valid_utf8(std::string text);

/// The text with characters that change direction (U+202A–E, U+2066–9; Unicode Annex 9) as JSON spells them:
/// nobody sees what a line that holds them says. Lines of JSON keep their values.
std::string with_directions_spelt(std::string text);

/// The same with control characters (`\u001b`), and U+FFFD for what is no UTF-8: texts of other programs
/// reach terminals and pages. Lines of JSON stay JSON.
std::string printable(std::string_view text);

}  // namespace ringside
