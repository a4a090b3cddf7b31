// A linear layer, forward and backward (torch.nn.Linear), and the activation that follows it.
//
// Shapes: x [rows, in], y and dy [rows, out], dx [rows, in]; parameters and their gradient are
// W [out, in] then b [out] in one tensor of LinearShape::elements(). All tensors of a call have one
// floating-point type. Products are in fp32; with a half type each result named below is rounded
// once, and the activation is applied to the rounded value and rounded again.
// The functions do nothing if the tensor they write is shape-only.
#pragma once

#include <cstddef>
#include <optional>

#include "core/nn/model.h"
#include "core/tensor/tensor.h"

namespace shardscope {

/// y = activation(x W^T + b).
void linear_forward(LinearShape shape, std::size_t rows, std::optional<Activation> activation,
                    Tensor x, Tensor parameters, Tensor y);

/// dW = dy^T x, db = sum of dy over rows, in row order.
void linear_backward_parameters(LinearShape shape, std::size_t rows, Tensor x, Tensor dy,
                                Tensor d_parameters);

/// dx = dy W.
void linear_backward_input(LinearShape shape, std::size_t rows, Tensor dy, Tensor parameters,
                           Tensor dx);

/// d = d * activation'(z), with the derivative taken from a = activation(z):
/// relu: a > 0; tanh: 1 - a^2.
void activation_backward(Activation activation, Tensor a, Tensor d);

}  // namespace shardscope
