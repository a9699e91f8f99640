#pragma once

namespace ringside {

/// A value within bounds: low ≤ typical ≤ high. Whoever states one says what share of cases it covers.
template <typename T>
struct Interval {
  T low = {};
  T typical = {};
  T high = {};

  static constexpr Interval exactly(const T& value) {
    return {.low = value, .typical = value, .high = value};
  }

  bool operator==(const Interval&) const = default;
};

template <typename T>
constexpr Interval<T> operator*(double factor, const Interval<T>& interval) {
  return {.low = factor * interval.low, .typical = factor * interval.typical, .high = factor * interval.high};
}

/// The quantity times each factor.
template <typename Quantity>
constexpr Interval<Quantity> operator*(const Interval<double>& factors, const Quantity& quantity) {
  return {
      .low = factors.low * quantity, .typical = factors.typical * quantity, .high = factors.high * quantity};
}

/// The numbers of quantities, in base units.
template <typename Quantity>
constexpr Interval<double> values_of(const Interval<Quantity>& interval) {
  return {.low = interval.low.value, .typical = interval.typical.value, .high = interval.high.value};
}

}  // namespace ringside
