// What a training run is, apart from the model and the cluster.
#pragma once

#include <cstddef>

#include "core/nn/adam.h"
#include "core/tensor/buffer.h"
#include "core/tensor/dtype.h"

namespace shardscope {

struct TrainingOptions {
  std::size_t steps = 20;

  /// Rows of a step over all ranks; each rank takes an equal, contiguous part. Ranks divide it.
  std::size_t global_batch = 64;

  /// Type of parameters, gradients and activations. A half type keeps fp32 master weights.
  DType precision = DType::fp32;

  /// Type of gradients on the wire, of each add of a reduction and of the division by N after it.
  DType reduce_precision = DType::fp32;

  /// Static: multiplies the loss's gradient, divides the averaged gradient.
  double loss_scale = 1.0;

  AdamOptions optimizer;

  Storage storage = Storage::real;

  bool has_master_weights() const { return precision != DType::fp32; }
};

}  // namespace shardscope
