// A linear layer, forward and backward (torch.nn.Linear), and the activation that follows it.
//
// Shapes: x [rows, in], y and dy [rows, out], dx [rows, in]; parameters and their gradient are
// W [out, in] and b [out]. All tensors of a call have one floating-point type. Products are in
// fp32; with a half type each result named below is rounded once, and the activation is applied to
// the rounded value and rounded again. The functions do nothing if the tensor they write is
// shape-only.
#pragma once

#include <cstddef>
#include <optional>

#include "core/nn/model.h"
#include "core/tensor/tensor.h"

namespace shardscope {

/// W and b, or their gradients.
struct LinearTensors {
  Tensor weight;
  Tensor bias;

  /// Of a tensor that holds W, then b.
  static LinearTensors together(LinearShape shape, Tensor both) {
    return {both.slice(0, shape.weight_elements()), both.slice(shape.weight_elements(), shape.out)};
  }
};

/// y = activation(x W^T + b).
void linear_forward(LinearShape shape, std::size_t rows, std::optional<Activation> activation,
                    Tensor x, LinearTensors parameters, Tensor y);

/// dW = dy^T x, db = sum of dy over rows, in row order.
void linear_backward_parameters(LinearShape shape, std::size_t rows, Tensor x, Tensor dy,
                                LinearTensors d_parameters);

/// dx = dy W.
void linear_backward_input(LinearShape shape, std::size_t rows, Tensor dy, Tensor weight,
                           Tensor dx);

/// d = d * activation'(z), with the derivative taken from a = activation(z):
/// relu: a > 0; tanh: 1 - a^2.
void activation_backward(Activation activation, Tensor a, Tensor d);

}  // namespace shardscope
