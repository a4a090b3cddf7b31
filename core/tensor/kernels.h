// Element-wise arithmetic on tensors. Every function does nothing if its destination is
// shape-only, and aborts if counts differ. Arithmetic is in fp32; a result is rounded to the
// destination's type once, to nearest, ties to even.
#pragma once

#include "core/tensor/tensor.h"

namespace shardscope {

/// destination = source, converted.
void convert(Tensor destination, Tensor source);

/// accumulator = accumulator + addend, both of one type.
void add(Tensor accumulator, Tensor addend);

/// values = values / divisor.
void divide(Tensor values, float divisor);

inline constexpr std::size_t kSumLanes = 16;

/// Sum of x^2, divided by scale^2, in fp64. The order of additions is fixed: element i goes to sum
/// i mod kSumLanes, and these are added in order. 0 if shape-only.
double sum_of_squares(Tensor values, double scale);

}  // namespace shardscope
