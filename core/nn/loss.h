// Losses, forward and backward (torch.nn.MSELoss, torch.nn.CrossEntropyLoss; mean reduction).
//
// Shapes: outputs and d_outputs [rows, width], of one floating-point type. Targets: fp32
// [rows, width] for mse, int64 [rows] labels in [0, width) for cross_entropy.
#pragma once

#include <cstddef>

#include "core/nn/model.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

namespace shardscope {

/// How targets are stored.
DType target_dtype(Loss loss);
std::size_t target_elements(Loss loss, std::size_t rows, std::size_t width);

/// mse: mean over rows and width of (o - y)^2. cross_entropy: mean over rows of
/// log(sum_j exp(o_j)) - o_label. In fp64 from the stored outputs. 0 if shape-only.
double loss_forward(Loss loss, std::size_t rows, std::size_t width, Tensor outputs, Tensor targets);

/// The gradient of the loss by the outputs, times `scale`, rounded once to the outputs' type.
/// mse: 2 (o - y) / (rows width); cross_entropy: (softmax(o) - onehot(label)) / rows.
void loss_backward(Loss loss, std::size_t rows, std::size_t width, double scale, Tensor outputs,
                   Tensor targets, Tensor d_outputs);

}  // namespace shardscope
