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

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return result;
}

}  // namespace ringside
