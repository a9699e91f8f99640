#pragma once

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <compare>
#include <cstdlib>
#include <functional>
#include <iterator>
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

/// Algorithms of ranges, as far as they are called.
namespace std::ranges {

template <typename Less, typename Projection>
auto projected(Less& less, Projection& projection) {
  return [&](const auto& a, const auto& b) {
    return std::invoke(less, std::invoke(projection, a), std::invoke(projection, b));
  };
}

template <typename Range, typename T, typename Projection = std::identity>
auto find(Range&& range, const T& value, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const auto& one) { return std::invoke(projection, one) == value; });
}

template <typename Range, typename Predicate, typename Projection = std::identity>
auto find_if(Range&& range, Predicate predicate, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const auto& one) { return std::invoke(predicate, std::invoke(projection, one)); });
}

template <typename Range, typename Predicate>
auto find_if_not(Range&& range, Predicate predicate) {
  return ranges::find_if(range, std::not_fn(predicate));
}

template <typename Range, typename Predicate>
bool any_of(Range&& range, Predicate predicate) {
  return ranges::find_if(range, predicate) != std::end(range);
}

template <typename Range, typename Predicate>
bool none_of(Range&& range, Predicate predicate) {
  return !ranges::any_of(range, predicate);
}

template <typename Range, typename Predicate>
bool all_of(Range&& range, Predicate predicate) {
  return !ranges::any_of(range, std::not_fn(predicate));
}

template <typename Range, typename Predicate>
auto count_if(Range&& range, Predicate predicate) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](const auto& one) { return std::invoke(predicate, one); });
}

template <typename Range, typename T>
auto count(Range&& range, const T& value) {
  return std::count(std::begin(range), std::end(range), value);
}

template <typename Range, typename Out, typename Predicate>
auto copy_if(Range&& range, Out out, Predicate predicate) {
  return std::copy_if(std::begin(range), std::end(range), out,
                      [&](const auto& one) { return std::invoke(predicate, one); });
}

template <typename Range, typename Out, typename Of>
auto transform(Range&& range, Out out, Of of) {
  return std::transform(std::begin(range), std::end(range), out,
                        [&](const auto& one) { return std::invoke(of, one); });
}

template <typename One, typename Other, typename Out, typename Of>
auto transform(One&& one, Other&& other, Out out, Of of) {
  return std::transform(std::begin(one), std::end(one), std::begin(other), out, of);
}

template <typename Range, typename Less = std::less<>, typename Projection = std::identity>
auto min_element(Range&& range, Less less = {}, Projection projection = {}) {
  return std::min_element(std::begin(range), std::end(range), projected(less, projection));
}

template <typename Range, typename Less = std::less<>, typename Projection = std::identity>
auto max_element(Range&& range, Less less = {}, Projection projection = {}) {
  return std::max_element(std::begin(range), std::end(range), projected(less, projection));
}

template <typename Range, typename Less = std::less<>, typename Projection = std::identity>
auto max(Range&& range, Less less = {}, Projection projection = {}) {
  return *ranges::max_element(range, less, projection);
}

template <typename Range, typename Less = std::less<>, typename Projection = std::identity>
void stable_sort(Range&& range, Less less = {}, Projection projection = {}) {
  std::stable_sort(std::begin(range), std::end(range), projected(less, projection));
}

template <typename Range, typename Less = std::less<>, typename Projection = std::identity>
void sort(Range&& range, Less less = {}, Projection projection = {}) {
  ranges::stable_sort(range, less, projection);
}

}  // namespace std::ranges
