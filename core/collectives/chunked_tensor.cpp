#include "core/collectives/chunked_tensor.h"

#include <utility>

#include "core/check.h"
#include "core/tensor/kernels.h"

namespace shardscope {

ChunkedTensor::ChunkedTensor(std::vector<Part> parts, int chunks) : parts_(std::move(parts)) {
  for (const Part& part : parts_) {
    SHARDSCOPE_CHECK(
        parts_.size() == 1 || part.tensor.count == part.chunk * static_cast<std::size_t>(chunks),
        "a part of several has chunks of unequal size");
    SHARDSCOPE_CHECK(part.tensor.dtype == dtype(), "parts differ in dtype");
    chunking_.count += part.tensor.count;
    chunking_.chunk += part.chunk;
  }
}

ChunkedTensor ChunkedTensor::even(Tensor tensor, int chunks) {
  return ChunkedTensor({{tensor, Chunking::even(tensor.count, chunks).chunk}}, chunks);
}

Tensor ChunkedTensor::piece(const Part& part, int index) const {
  const Chunking chunking{part.tensor.count, part.chunk};
  return part.tensor.slice(chunking.offset(index), chunking.size(index));
}

Tensor ChunkedTensor::chunk(int index) const {
  SHARDSCOPE_CHECK(parts_.size() == 1, "the chunk is not in one piece");
  return piece(parts_.front(), index);
}

void ChunkedTensor::pack(int index, Tensor into) const {
  std::size_t offset = 0;
  for (const Part& part : parts_) {
    const Tensor source = piece(part, index);
    convert(into.slice(offset, source.count), source);
    offset += source.count;
  }
}

void ChunkedTensor::unpack(int index, Tensor from) const {
  std::size_t offset = 0;
  for (const Part& part : parts_) {
    const Tensor destination = piece(part, index);
    convert(destination, from.slice(offset, destination.count));
    offset += destination.count;
  }
}

}  // namespace shardscope
