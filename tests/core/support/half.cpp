#include "tests/core/support/half.h"

#include <cmath>
#include <limits>

namespace shardscope::testing {
namespace {

struct Format {
  int fraction_bits;
  int exponent_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int smallest_exponent() const { return 1 - bias(); }  // Of a normal number.
};

Format format(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return {.fraction_bits = 7, .exponent_bits = 8};
    case DType::fp16:
      return {.fraction_bits = 10, .exponent_bits = 5};
    default:
      return {.fraction_bits = 23, .exponent_bits = 8};
  }
}

}  // namespace

double decode_half(DType dtype, std::uint16_t bits) {
  const Format f = format(dtype);
  const int fraction = bits & ((1 << f.fraction_bits) - 1);
  const int exponent = (bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << f.exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) {
    return sign * std::ldexp(fraction, f.smallest_exponent() - f.fraction_bits);
  }
  return sign *
         std::ldexp(fraction + (1 << f.fraction_bits), exponent - f.bias() - f.fraction_bits);
}

bool is_nan_half(DType dtype, std::uint16_t bits) { return std::isnan(decode_half(dtype, bits)); }

double nearest(DType dtype, double value) {
  if (value == 0.0 || !std::isfinite(value)) {
    return value;
  }
  const Format f = format(dtype);
  const int exponent = std::max(std::ilogb(value), f.smallest_exponent());
  // Scaled so that the last place of the result is 1; nearbyint rounds ties to even.
  const int last_place = exponent - f.fraction_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -last_place)), last_place);
  const double beyond = std::ldexp(1.0, f.bias() + 1);
  return std::abs(rounded) >= beyond ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                     : rounded;
}

}  // namespace shardscope::testing
