#include "core/tensor/tensor.h"

#include "core/check.h"

namespace shardscope {

float* Tensor::fp32() const {
  SHARDSCOPE_CHECK(dtype == DType::fp32, "the tensor is not fp32");
  return reinterpret_cast<float*>(data);
}

std::int64_t* Tensor::int64() const {
  SHARDSCOPE_CHECK(dtype == DType::int64, "the tensor is not int64");
  return reinterpret_cast<std::int64_t*>(data);
}

}  // namespace shardscope
