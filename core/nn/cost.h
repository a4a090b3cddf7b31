// What each kernel of the training step costs a device: floating-point operations and bytes of
// memory traffic, each operand read or written once. Functions of shapes only, so that shape-only
// runs take the same time as real ones.
#pragma once

#include <cstddef>
#include <vector>

#include "core/nn/kernel_cost.h"
#include "core/nn/model.h"
#include "core/tensor/dtype.h"

namespace shardscope {

/// The kernels of a layer, in their order. A linear layer's forward is one; its backward is that of
/// the parameters, and, but for the first layer, that of the input. A transformer's layers:
/// transformer.h.
std::vector<KernelCost> forward_kernels(const ModelSpec& model, std::size_t layer, std::size_t rows,
                                        DType dtype);
std::vector<KernelCost> backward_kernels(const ModelSpec& model, std::size_t layer,
                                         std::size_t rows, DType dtype);

/// y = act(x W^T + b): 2 rows in out flops for the product; reads x, W, b, writes y. The bias and
/// the activation are fused and count one flop each per output.
Cost linear_forward_cost(LinearShape shape, std::size_t rows, bool activated, DType dtype);

/// dW, db: 2 rows in out + rows out flops; reads x and dy, writes the gradient.
Cost linear_backward_parameters_cost(LinearShape shape, std::size_t rows, DType dtype);

/// dx = (dy W) * act'(a), fused: 2 rows in out flops, and 2 per element of dx for the derivative;
/// reads dy, W and a, writes dx.
Cost linear_backward_input_cost(LinearShape shape, std::size_t rows, DType dtype);

/// Forward: reads outputs and targets. Backward: the same, and writes the outputs' gradient.
/// Five flops per output.
Cost loss_forward_cost(Loss loss, std::size_t rows, std::size_t width, DType dtype);
Cost loss_backward_cost(Loss loss, std::size_t rows, std::size_t width, DType dtype);

/// A change of type: one flop per element.
Cost convert_cost(std::size_t elements, DType from, DType to);

/// a = a + x: one flop per element; reads both, writes the sum.
Cost accumulate_cost(std::size_t elements, DType addend, DType sum);

/// x = x / N: one flop per element, read in one type and written in another.
Cost average_cost(std::size_t elements, DType from, DType to);

/// Sum of squares, or a look for infinities: two flops per element, each read once.
Cost sum_of_squares_cost(std::size_t elements, DType dtype);

/// Adam on fp32 weights and two moments, each read and written, and a gradient read: 14 flops per
/// element. With a half type the rounded parameters are written as well.
Cost adam_cost(std::size_t elements, DType precision, DType gradients);

}  // namespace shardscope
