#pragma once

#include <cerrno>
#include <charconv>
#include <compare>
#include <cstdlib>
#include <cstring>
#include <string>

#include <strings.h>

/// What of C++20 the library of Debian's emscripten 3.1.6 lacks; included before every source (README.md).
namespace std {

template <typename C, typename T, typename A>
strong_ordering operator<=>(const basic_string<C, T, A>& a, const basic_string<C, T, A>& b) noexcept {
  return a.compare(b) <=> 0;
}

#ifndef __cpp_lib_bit_cast
template <typename To, typename From>
To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
#endif

/// Decimal text, rounded to the nearest as musl's strtod does. That takes blanks, signs and hexadecimal
/// digits, too, and needs a text with an end: the number is cut out first.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const char* end = first;
  const auto digits = [&] {
    const char* const start = end;
    while (end != last && digit(*end)) ++end;
    return end - start;
  };
  const auto word = [&](const char* name) {
    const size_t length = strlen(name);
    if (static_cast<size_t>(last - end) < length || strncasecmp(end, name, length) != 0) return false;
    end += length;
    return true;
  };
  if (end != last && *end == '-') ++end;
  if (!word("infinity") && !word("inf") && !word("nan")) {
    auto found = digits();
    if (end != last && *end == '.') {
      ++end;
      found += digits();
    }
    if (found == 0) return {first, errc::invalid_argument};
    if (end != last && (*end == 'e' || *end == 'E')) {
      const char* const mantissa = end++;
      if (end != last && (*end == '+' || *end == '-')) ++end;
      if (digits() == 0) end = mantissa;
    }
  }
  const string text(first, end);
  errno = 0;
  const double read = strtod(text.c_str(), nullptr);
  if (errno == ERANGE) return {end, errc::result_out_of_range};
  value = read;
  return {end, errc{}};
}

}  // namespace std
