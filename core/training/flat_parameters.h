// Between the tensors of a model and one flat vector of them in torch order.
#pragma once

#include <span>

#include "core/tensor/tensor.h"

namespace shardscope {

/// Concatenates the tensors into `flat`, converted to its type, and sets what remains of it
/// (padding) to zero. Aborts if they do not fit.
void flatten_params(std::span<const Tensor> tensors, Tensor flat);

/// The inverse: fills the tensors one after another from the beginning of `flat`.
void unflatten_into(Tensor flat, std::span<const Tensor> tensors);

}  // namespace shardscope
