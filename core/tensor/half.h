// Arrays of half-type numbers to and from fp32, rounded to nearest, ties to even; NaN stays NaN.
// Bits do not depend on how an array is aligned or cut.
#pragma once

#include <cstddef>

#include "core/tensor/dtype.h"

namespace shardscope {

/// `dtype` is fp32, bf16 or fp16, the type of the memory that is not float. Memory must not
/// overlap.
void load_fp32(DType dtype, const std::byte* source, float* destination, std::size_t count);
void store_fp32(DType dtype, const float* source, std::byte* destination, std::size_t count);

}  // namespace shardscope
