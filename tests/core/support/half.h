// Half types and roundings written out from their definitions, bit by bit and in fp64, as the truth
// the library's conversions are held against.
#pragma once

#include <cstdint>

#include "core/tensor/dtype.h"

namespace shardscope::testing {

/// The number a bit pattern of bf16 or fp16 stands for.
double decode_half(DType dtype, std::uint16_t bits);

bool is_nan_half(DType dtype, std::uint16_t bits);

/// The nearest number of a floating-point type, ties to even, subnormals and infinities included.
double nearest(DType dtype, double value);

}  // namespace shardscope::testing
