#include "common/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ringside {

std::string count_of(const std::string& number, std::string_view one, std::string_view many) {
  return number == "1"  ? fmt::format("1 {}", one)
         : many.empty() ? fmt::format("{} {}s", number, one)
                        : fmt::format("{} {}", number, many);
}

std::string consecutive(std::string_view noun, std::int64_t first, std::int64_t last,
                        std::string_view between) {
  const std::string numbers =
      first == last ? std::to_string(first) : fmt::format("{}{}{}", first, between, last);
  return noun.empty() ? numbers : fmt::format("{}{} {}", noun, first == last ? "" : "s", numbers);
}

std::string from_to(std::string_view low, std::string_view high) {
  return low == high ? std::string(low) : fmt::format("{} to {}", low, high);
}

std::string first_few(std::span<const std::string> all, std::size_t most, std::string_view separator) {
  const auto named = all.first(std::min(all.size(), most));
  const std::string text = fmt::format("{}", fmt::join(named, separator));
  return named.size() == all.size() ? text : fmt::format("{} and {} more", text, all.size() - named.size());
}

std::string factor_text(double factor, int decimals) { return fmt::format("{:.{}f}×", factor, decimals); }

std::string in_gb(Bytes size) { return fmt::format("{:.3g} GB", static_cast<double>(size.value) / 1e9); }

std::string money_text(double amount) { return fmt::format("{:.{}f}", amount, amount < 1 ? 3 : 2); }

std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) {
    return 0;
  }
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      return 0;
    }
  }
  // A longer form than needed, half of a UTF-16 pair, beyond U+10FFFF.
  const bool other_form = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
                          (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F);
  return other_form ? 0 : length;
}

std::string valid_utf8(std::string text) {
  const auto first_invalid = [&text](std::size_t at) {
    while (at < text.size()) {
      const std::size_t length = character_length(std::string_view(text).substr(at));
      if (length == 0) {
        break;
      }
      at += length;
    }
    return at;
  };
  std::size_t invalid = first_invalid(0);
  if (invalid == text.size()) {
    return text;
  }
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    result.append(text, at, invalid - at);
    at = invalid;
    if (at < text.size()) {
      result += "\xEF\xBF\xBD";
      invalid = first_invalid(++at);
    }
  }
  return result;
}

std::string with_directions_spelt(std::string text) {
  const auto last_byte = [&text](std::size_t at, char second) {
    return at + 2 < text.size() && text[at + 1] == second ? static_cast<unsigned char>(text[at + 2]) : 0U;
  };
  for (std::size_t at = text.find('\xE2'); at != std::string::npos; at = text.find('\xE2', at + 1)) {
    const unsigned embedding = last_byte(at, '\x80');
    const unsigned isolate = last_byte(at, '\x81');
    if (embedding >= 0xAA && embedding <= 0xAE) {
      text.replace(at, 3, fmt::format("\\u20{:02x}", embedding - 0x80));
    } else if (isolate >= 0xA6 && isolate <= 0xA9) {
      text.replace(at, 3, fmt::format("\\u20{:02x}", isolate - 0x40));
    }
  }
  return text;
}

std::string printable(std::string_view as_given) {
  const std::string text = with_directions_spelt(valid_utf8(std::string(as_given)));
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    // U+0080 to U+009F are the same orders in eight bits.
    const bool eight_bit_order =
        byte == 0xC2 && at + 1 < text.size() && (static_cast<unsigned char>(text[at + 1]) & 0xE0U) == 0x80;
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      result += fmt::format("\\u00{:02x}", byte);
    } else if (eight_bit_order) {
      result += fmt::format("\\u00{:02x}", static_cast<unsigned char>(text[++at]));
    } else {
      result += text[at];
    }
  }
  return result;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::vector<std::string> words_of(std::string_view text, bool (*is_blank)(char)) {
  std::vector<std::string> words;
  for (auto at = text.begin(); (at = std::find_if_not(at, text.end(), is_blank)) != text.end();) {
    const auto end = std::find_if(at, text.end(), is_blank);
    words.emplace_back(at, end);
    at = end;
  }
  return words;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return result;
}

}  // namespace ringside
