// Adam and AdamW as torch.optim computes them.
// Kingma & Ba 2015 (arXiv 1412.6980), Loshchilov & Hutter 2019 (arXiv 1711.05101).
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"

namespace shardscope {

struct AdamOptions {
  enum class Variant { adam, adamw };
  Variant variant = Variant::adam;
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  /// adam: added to the gradient (L2). adamw: decoupled decay of the parameter.
  double weight_decay = 0.0;
};

/// What gradients are multiplied by before the update, one rounding each.
struct GradientScale {
  float unscale = 1;  ///< 1 / loss scale, as torch's GradScaler (exact for powers of two).
  float clip = 1;     ///< At most 1.

  static GradientScale of_loss_scale(double loss_scale) {
    return {.unscale = static_cast<float>(1.0 / loss_scale)};
  }
};

/// What one update reads and writes; all have the same count. `parameters` is the fp32 copy the
/// update works on: the master weights, or the parameters themselves in fp32 training.
struct AdamTensors {
  Tensor parameters;
  Tensor gradients;  ///< Any floating-point type.
  Tensor first_moment;
  Tensor second_moment;
  Tensor rounded_parameters;  ///< The new parameters in a half type; no elements if not wanted.
};

/// One update, step t = 1, 2, ..., in fp32:
///   g = grad unscale clip;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2
///   p -= (lr / (1-b1^t)) m / (sqrt(v) / sqrt(1-b2^t) + eps)
/// Does nothing on shape-only tensors.
void adam_update(const AdamOptions& options, std::int64_t t, GradientScale scale,
                 const AdamTensors& tensors);

}  // namespace shardscope
