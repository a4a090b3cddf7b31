// The gradients of one rank, from the moment a layer's backward writes them until the optimizer
// reads the averages of the elements it owns.
#pragma once

#include <cstddef>
#include <vector>

#include "core/device/process_group.h"
#include "core/tensor/buffer.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"

namespace shardscope {

class GradientReducer {
 public:
  /// Allocates what is kept for the whole training (throws OutOfMemory). Gradients have type
  /// `precision`; they are summed and averaged in `reduce_precision`, which is also what is sent.
  GradientReducer(const Strategy& strategy, const ShardGeometry& geometry, const ModelSpec& model,
                  DType precision, DType reduce_precision, ProcessGroup& group);

  /// Where to write a layer's gradient (dW then db). Valid until `ready`.
  Tensor begin(std::size_t layer);

  /// The layer's gradient is complete. Layers come last to first.
  void ready(std::size_t layer);

  /// Returns when every gradient has been reduced and averaged.
  void finish();

  /// The averages of the rank's owned elements, a tensor per unit, padding (zeros) included.
  std::vector<Tensor> owned() const;

  /// All that the rank keeps until the update, in the full or the shard layout.
  Tensor kept() const { return kept_.tensor(); }

 private:
  void reduce(std::size_t unit_index);
  Tensor unit_gradient(std::size_t unit_index) const;
  Tensor owned_gradient(std::size_t unit_index) const;

  const Strategy& strategy_;
  const ShardGeometry& geometry_;
  const ModelSpec& model_;
  DType precision_;
  DType reduce_precision_;
  ProcessGroup& group_;
  Buffer kept_;                    // Full layout if replicated, shard layout if sharded.
  std::vector<Buffer> transient_;  // Per unit: its full gradient on its way to a shard.
};

}  // namespace shardscope
