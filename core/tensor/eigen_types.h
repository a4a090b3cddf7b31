// How tensors look to Eigen. Include in .cpp files only: Eigen is heavy.
#pragma once

#include <Eigen/Core>

namespace shardscope {

using MatrixMap = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

}  // namespace shardscope
