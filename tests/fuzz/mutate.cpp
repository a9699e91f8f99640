#include "mutate.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ringside::fuzz {
namespace {

constexpr std::size_t kLongest = 16 * 1024;

/// Known to be hard: ends of number ranges, marks of YAML, CSV, JSON and XML, bytes that are no text.
constexpr std::array<std::string_view, 60> kWords = {"0",
                                                     "-1",
                                                     "1",
                                                     "1e308",
                                                     "1e-308",
                                                     "5e-324",
                                                     "nan",
                                                     ".nan",
                                                     "inf",
                                                     ".inf",
                                                     "-inf",
                                                     "1e18",
                                                     "1e19",
                                                     "1e400",
                                                     "0.1",
                                                     "007",
                                                     "0x10",
                                                     "1_000",
                                                     "16777216",
                                                     "-0",
                                                     "1000000",
                                                     "4 KiB",
                                                     "9 EiB",
                                                     "1e200 s",
                                                     "\n",
                                                     "\r\n",
                                                     "\t",
                                                     " ",
                                                     ",",
                                                     ";",
                                                     ":",
                                                     ": ",
                                                     "- ",
                                                     "#",
                                                     "'",
                                                     "\"",
                                                     "{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     "{}",
                                                     "[]",
                                                     "&a ",
                                                     "*a",
                                                     "!!int ",
                                                     "<<: ",
                                                     "|",
                                                     ">",
                                                     "null",
                                                     "~",
                                                     "true",
                                                     "\xEF\xBB\xBF",
                                                     "\xC3\x28",
                                                     "\x1b[31m",
                                                     "\xF0\x9F\x8E\xB2",
                                                     "</a>",
                                                     "<a>",
                                                     "N/A",
                                                     "9223372036854775807",
                                                     "-9223372036854775808"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Mutator::Mutator(std::vector<std::string> seeds, std::uint64_t seed)
    : seeds_(std::move(seeds)), state_(seed) {
  for (std::string& text : seeds_) {
    text.resize(std::min(text.size(), kLongest));
  }
}

/// splitmix64 (Steele, Lea and Flood 2014): small, and the same on every machine.
std::uint64_t Mutator::below(std::uint64_t end) {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return (z ^ (z >> 31U)) % end;
}

void Mutator::change(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  const std::size_t length = std::min<std::size_t>(below(below(8) == 0 ? 400 : 12), text.size() - at);
  switch (below(9)) {
    case 0:
      text.insert(at, kWords[below(kWords.size())]);
      break;
    case 1:
      text.replace(at, length, kWords[below(kWords.size())]);
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:  // A part once more, somewhere else.
      text.insert(below(text.size() + 1), text.substr(at, length));
      break;
    case 4:
      if (at < text.size()) {
        text[at] = static_cast<char>(below(256));
      }
      break;
    case 5: {  // A whole number becomes a word.
      const auto digit = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_digit);
      const auto end = std::find_if_not(digit, text.end(), is_digit);
      text.replace(digit, end, kWords[below(24)]);
      break;
    }
    case 6:  // Cut.
      text.resize(below(8) == 0 ? at : text.size());
      break;
    case 7: {  // A line goes, or comes twice.
      const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin) + "\n";
      if (below(2) == 0) {
        text.insert(begin, line);
      } else {
        text.erase(begin, std::min(line.size(), text.size() - begin));
      }
      break;
    }
    default: {  // A part of another text.
      const std::string& other = seeds_[below(seeds_.size())];
      const std::size_t from = below(other.size() + 1);
      text.insert(at, other.substr(from, below(60)));
    }
  }
  text.resize(std::min(text.size(), kLongest));
}

std::string Mutator::next() {
  std::string text = seeds_[below(seeds_.size())];
  for (std::uint64_t changes = 1 + below(5); changes > 0; --changes) {
    change(text);
  }
  return text;
}

}  // namespace ringside::fuzz
