#include "goods/goods.hpp"

#include <array>
#include <stdexcept>

namespace {

constexpr int kMany = 10;
// An array's length is a constant expression: a mutant of it does not compile.
constexpr int kSteps = 1 + 1;
constexpr std::array<double, kSteps> kFactors = {1.0, 0.9};

}  // namespace

double price(int count) {
  if (count < 0) {
    throw std::invalid_argument("count");
  }
  const double factor = count >= kMany ? kFactors[1] : kFactors[0];
  return 2.5 * count * factor;
}

int clamped(int value) {
  if (value > 5) {
    value = 5;
  }
  return value;
}

int never_called(int value) { return value + 1; }

int sum_to(int count) {
  int sum = 0;
  for (int i = 0; i <= count; ++i) {
    sum += i;
  }
  return sum;
}
