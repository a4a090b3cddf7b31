// Element-wise arithmetic on tensors. Every function does nothing if its destination is
// shape-only, and aborts if counts differ. Arithmetic is in fp32; a result is rounded to the
// destination's type once, to nearest, ties to even.
#pragma once

#include "core/tensor/tensor.h"

namespace shardscope {

/// values = 0.
void set_zero(Tensor values);

/// destination = source, converted.
void convert(Tensor destination, Tensor source);

/// accumulator = accumulator + addend.
void add(Tensor accumulator, Tensor addend);

/// values = values / divisor.
void divide(Tensor values, float divisor);

/// Whether no value is infinite or NaN. True if shape-only.
bool is_finite(Tensor values);

/// Sum of x^2 in fp64, element i going to the (i mod 8)th of eight sums. 0 if shape-only.
double sum_of_squares(Tensor values);

}  // namespace shardscope
