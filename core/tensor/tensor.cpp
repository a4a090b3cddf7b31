#include "core/tensor/tensor.h"

#include "core/check.h"

namespace shardscope {

Tensor Tensor::slice(std::size_t offset, std::size_t length) const {
  SHARDSCOPE_CHECK(offset <= count && length <= count - offset, "a slice leaves its tensor");
  return {is_real() ? data + offset * size_of(dtype) : nullptr, dtype, length};
}

float* Tensor::fp32() const {
  SHARDSCOPE_CHECK(dtype == DType::fp32, "the tensor is not fp32");
  return reinterpret_cast<float*>(data);
}

std::int64_t* Tensor::int64() const {
  SHARDSCOPE_CHECK(dtype == DType::int64, "the tensor is not int64");
  return reinterpret_cast<std::int64_t*>(data);
}

}  // namespace shardscope
