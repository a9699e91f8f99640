#pragma once

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <compare>
#include <cstdlib>
#include <string>

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

/// Decimal text, rounded to the nearest as musl's strtod does. That takes blanks, a plus sign and hexadecimal
/// digits, too, and needs a text with an end.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const auto ends = [](char c) {
    return (isalnum(c) == 0 && c != '.' && c != '-' && c != '+') || (c | ' ') == 'x';
  };
  const string text(first, find_if(first, last, ends));
  errno = 0;
  char* end = nullptr;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str() || *first == '+') return {first, errc::invalid_argument};
  const bool fits = errno != ERANGE;
  if (fits) value = read;
  return {first + (end - text.c_str()), fits ? errc{} : errc::result_out_of_range};
}

}  // namespace std
