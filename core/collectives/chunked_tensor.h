// The memory a collective works on: a logical vector cut into one chunk per rank, laid over one or
// more tensors. With several parts chunk c is the concatenation of chunk c of each part, as when
// the shards of all layers travel in one all_gather.
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

  bool is_contiguous() const { return parts_.size() <= 1; }

  /// The chunk's memory; only if contiguous.
  Tensor chunk(int index) const;

  /// Copies a chunk into, or from, a contiguous tensor of its size.
  void pack(int index, Tensor into) const;
  void unpack(int index, Tensor from) const;

 private:
  Tensor piece(const Part& part, int index) const;

  std::vector<Part> parts_;
  Chunking chunking_;
};

}  // namespace shardscope
