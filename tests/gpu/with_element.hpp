#pragma once

#include <cstdint>

#include "common/names.hpp"
#include "real/execute/half.hpp"

namespace ringside {

/// Calls `function` with a value of the host's type of `dtype`.
template <typename Function>
void with_element(DataType dtype, const Function& function) {
  switch (dtype) {
    case DataType::float32:
      return function(float{});
    case DataType::float64:
      return function(double{});
    case DataType::float16:
      return function(Float16{});
    case DataType::bfloat16:
      return function(BFloat16{});
    case DataType::int32:
      return function(std::int32_t{});
    case DataType::int64:
      return function(std::int64_t{});
  }
}

}  // namespace ringside
