#include "core/training/flat_parameters.h"

#include <algorithm>

#include "core/tensor/kernels.h"

namespace shardscope {

void flatten_params(std::span<const Tensor> tensors, Tensor flat) {
  std::size_t offset = 0;
  for (const Tensor& tensor : tensors) {
    convert(flat.slice(offset, tensor.count), tensor);
    offset += tensor.count;
  }
  const Tensor padding = flat.slice(offset, flat.count - offset);
  if (padding.is_real()) {
    std::fill_n(padding.data, padding.bytes(), std::byte{0});
  }
}

void unflatten_into(Tensor flat, std::span<const Tensor> tensors) {
  std::size_t offset = 0;
  for (const Tensor& tensor : tensors) {
    convert(tensor, flat.slice(offset, tensor.count));
    offset += tensor.count;
  }
}

}  // namespace shardscope
