#include "core/training/flat_parameters.h"

#include "core/tensor/kernels.h"

namespace shardscope {

void flatten_params(std::span<const Tensor> tensors, Tensor flat) {
  std::size_t offset = 0;
  for (const Tensor& tensor : tensors) {
    convert(flat.slice(offset, tensor.count), tensor);
    offset += tensor.count;
  }
  set_zero(flat.slice(offset, flat.count - offset));
}

void unflatten_into(Tensor flat, std::span<const Tensor> tensors) {
  std::size_t offset = 0;
  for (const Tensor& tensor : tensors) {
    convert(tensor, flat.slice(offset, tensor.count));
    offset += tensor.count;
  }
}

}  // namespace shardscope
