#include "goods/goods.hpp"

#include <stdexcept>

int main() {
  bool refuses = false;
  try {
    price(-1);
  } catch (const std::invalid_argument&) {
    refuses = true;
  }
  const bool good = refuses && price(0) == 0 && price(4) == 10 && price(9) == 22.5 && price(10) == 22.5 &&
                    clamped(7) == 5 && clamped(3) == 3 && sum_to(4) == 10;
  return good ? 0 : 1;
}
