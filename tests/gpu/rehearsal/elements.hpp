#pragma once

#define RINGSIDE_ON_DEVICE
#include "real/backend/nccl/device/kernel_bodies.hpp"
#include "real/execute/half.hpp"
#include "tests/gpu/with_element.hpp"

/// 16-bit types of the rehearsal device.
namespace ringside {

template <>
struct Widened<Float16> {
  using Type = float;
  static float widen(Float16 value) { return to_float(value); }
  static Float16 narrow(float value) { return to_float16(value); }
};

template <>
struct Widened<BFloat16> {
  using Type = float;
  static float widen(BFloat16 value) { return to_float(value); }
  static BFloat16 narrow(float value) { return to_bfloat16(value); }
};

/// Calls `function` with each reduction as a constant; an average adds.
template <typename Function>
void with_op(ReduceOp op, const Function& function) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return function(std::integral_constant<ReduceOp, ReduceOp::sum>{});
    case ReduceOp::prod:
      return function(std::integral_constant<ReduceOp, ReduceOp::prod>{});
    case ReduceOp::min:
      return function(std::integral_constant<ReduceOp, ReduceOp::min>{});
    case ReduceOp::max:
      return function(std::integral_constant<ReduceOp, ReduceOp::max>{});
  }
}

}  // namespace ringside
