#include "import/listed_gpu_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"

namespace ringside {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// What stands between blanks, underscores and hyphens.
std::vector<std::string> separate_words(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c != ' ' && c != '_' && c != '-') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

/// `RTXPRO6000` is three words, and `3090Ti` two.
void add_taken_apart(const std::string& word, std::vector<std::string>& words) {
  const std::string loud = upper(word);
  for (const std::string_view front : {"RTX", "GTX", "PRO"}) {
    if (loud.size() > front.size() && loud.starts_with(front)) {
      words.emplace_back(front);
      add_taken_apart(word.substr(front.size()), words);
      return;
    }
  }
  constexpr std::size_t kDigits = 4;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEndings = {
      {{"ADA", "Ada"}, {"TI", "Ti"}, {"S", "SUPER"}, {"SUPER", "SUPER"}}};
  const bool numbered = loud.size() > kDigits && std::all_of(loud.begin(), loud.begin() + kDigits, is_digit);
  for (const auto& [listed, spelt] : kEndings) {
    if (numbered && loud.substr(kDigits) == listed) {
      words.push_back(word.substr(0, kDigits));
      words.emplace_back(spelt);
      return;
    }
  }
  words.push_back(word);
}

/// The server, workstation and Max-Q cards have one data sheet here.
bool is_rtx_pro_6000(const std::vector<std::string>& words) {
  return words.size() >= 3 && upper(words[0]) == "RTX" && upper(words[1]) == "PRO" && words[2] == "6000";
}

}  // namespace

std::string catalogue_gpu_name(std::string_view listed) {
  std::vector<std::string> words;
  for (const std::string& word : separate_words(listed)) {
    add_taken_apart(word, words);
  }
  if (!words.empty() && upper(words.front()) == "Q") {
    words.front() = "Quadro";
  }
  if (is_rtx_pro_6000(words)) {
    return "RTX PRO 6000 Blackwell";
  }
  // The network of the node, not the card.
  std::erase_if(words, [](const std::string& word) { return upper(word) == "MEGA"; });
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace ringside
