// A view of typed memory: where it lies, its element type and how many elements. It owns nothing.
//
// A shape-only tensor has a size and no memory (as torch's meta device): everything that plans,
// counts or schedules treats it as any other; only arithmetic and payload copies look at `data`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "core/tensor/dtype.h"

namespace shardscope {

struct Tensor {
  std::byte* data = nullptr;  ///< Null if shape-only.
  DType dtype = DType::fp32;
  std::size_t count = 0;

  bool is_real() const { return data != nullptr; }
  std::size_t bytes() const { return count * size_of(dtype); }

  /// Elements [offset, offset + length). Aborts if they are not all in the tensor.
  Tensor slice(std::size_t offset, std::size_t length) const {
    SHARDSCOPE_CHECK(offset <= count && length <= count - offset, "a slice leaves its tensor");
    return {is_real() ? data + offset * size_of(dtype) : nullptr, dtype, length};
  }

  /// Typed pointers; abort on another dtype.
  float* fp32() const;
  std::int64_t* int64() const;

  static Tensor of(float* data, std::size_t count) {
    return {reinterpret_cast<std::byte*>(data), DType::fp32, count};
  }
};

}  // namespace shardscope
