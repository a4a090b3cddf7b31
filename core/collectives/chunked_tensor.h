// The memory a collective works on: a logical vector cut into one chunk per rank, laid over one or
// more tensors. With several parts chunk c is the concatenation of chunk c of each part, as when
// the shards of all layers travel in one all_gather, and the vector that of the chunks.
#pragma once

#include <cstddef>
#include <vector>

#include "core/collectives/schedule.h"
#include "core/tensor/tensor.h"

namespace shardscope {

class ChunkedTensor {
 public:
  struct Part {
    Tensor tensor;
    std::size_t chunk;  ///< Elements of each chunk but the last ones.
  };

  /// One part may be of any count; several parts must each be full, i.e. `chunks` times their chunk
  /// long, and of one dtype.
  ChunkedTensor(std::vector<Part> parts, int chunks);

  /// A single tensor cut into ceil(count / chunks).
  static ChunkedTensor even(Tensor tensor, int chunks);

  /// No elements, for a barrier.
  static ChunkedTensor none() { return ChunkedTensor({}, 1); }

  Chunking chunking() const { return chunking_; }
  DType dtype() const { return parts_.empty() ? DType::fp32 : parts_.front().tensor.dtype; }
  std::size_t bytes() const { return chunking_.count * size_of(dtype()); }

  bool is_real() const { return !parts_.empty() && parts_.front().tensor.is_real(); }

  bool is_contiguous() const { return parts_.size() <= 1; }

  /// Appends the memory of the range's elements, in their order. None of it is empty.
  void append(Range range, std::vector<Tensor>& pieces) const;

 private:
  void append_of_chunk(int chunk, Range range, std::vector<Tensor>& pieces) const;

  std::vector<Part> parts_;
  Chunking chunking_;
};

}  // namespace shardscope
