// Element types of tensors. Half types take two bytes in memory and on the wire.
#pragma once

#include <cstddef>
#include <string_view>

namespace shardscope {

/// int64 holds class labels and tokens, uint8 memory of which only the size matters; all arithmetic
/// is on the three floating-point types.
enum class DType { fp32, bf16, fp16, int64, uint8 };

constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return 4;
    case DType::bf16:
    case DType::fp16:
      return 2;
    case DType::int64:
      return 8;
    case DType::uint8:
      return 1;
  }
  return 0;
}

constexpr std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return "fp32";
    case DType::bf16:
      return "bf16";
    case DType::fp16:
      return "fp16";
    case DType::int64:
      return "int64";
    case DType::uint8:
      return "uint8";
  }
  return "";
}

}  // namespace shardscope
