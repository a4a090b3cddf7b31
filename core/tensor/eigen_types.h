// How tensors look to Eigen, and the one setting its products depend on. Include in .cpp files
// only: Eigen is heavy.
#pragma once

#include <Eigen/Core>

#include "core/tensor/dtype.h"

namespace shardscope {

template <typename T>
using ArrayMap = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

using MatrixMap = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// Calls f with a value of the C++ type of a floating-point dtype.
template <typename F>
void dispatch(DType dtype, F&& f) {
  switch (dtype) {
    case DType::fp32:
      f(float{});
      break;
    case DType::bf16:
      f(Eigen::bfloat16{});
      break;
    case DType::fp16:
      f(Eigen::half{});
      break;
    case DType::int64:
      break;
  }
}

}  // namespace shardscope
