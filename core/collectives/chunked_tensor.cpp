#include "core/collectives/chunked_tensor.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

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

void ChunkedTensor::append(Range range, std::vector<Tensor>& pieces) const {
  if (is_contiguous()) {
    if (range.count > 0) {
      pieces.push_back(parts_.front().tensor.slice(range.offset, range.count));
    }
    return;
  }
  const std::size_t end = range.offset + range.count;
  while (range.offset < end) {
    const std::size_t chunk = range.offset / chunking_.chunk;
    const std::size_t inside = range.offset - chunk * chunking_.chunk;
    const std::size_t count = std::min(chunking_.chunk - inside, end - range.offset);
    append_of_chunk(static_cast<int>(chunk), {inside, count}, pieces);
    range.offset += count;
  }
}

// The range is inside the chunk.
void ChunkedTensor::append_of_chunk(int chunk, Range range, std::vector<Tensor>& pieces) const {
  const std::size_t end = range.offset + range.count;
  std::size_t part_begin = 0;
  for (const Part& part : parts_) {
    const std::size_t from = std::max(range.offset, part_begin);
    const std::size_t to = std::min(end, part_begin + part.chunk);
    if (from < to) {
      pieces.push_back(part.tensor.slice(
          static_cast<std::size_t>(chunk) * part.chunk + (from - part_begin), to - from));
    }
    part_begin += part.chunk;
  }
}

}  // namespace shardscope
