// The parameters of one rank, held whole or as shards: gathered for use, published after an update.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/data/sources.h"
#include "core/device/process_group.h"
#include "core/tensor/buffer.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"

namespace shardscope {

class ParameterStore {
 public:
  /// Allocates (throws OutOfMemory) and fills from the source. References must outlive the store.
  ParameterStore(const Strategy& strategy, const ShardGeometry& geometry, const ModelSpec& model,
                 DType precision, ProcessGroup& group, const WeightSource& source);

  /// A layer's parameters, W then b; an all_gather if they are sharded. Valid until its release.
  Tensor acquire(std::size_t layer);
  void release(std::size_t layer);

  /// What the optimizer updates: the rank's owned elements, a tensor per unit, padding included.
  std::vector<Tensor> owned() const;

  /// All that the rank holds between uses, in the full or the shard layout.
  Tensor held() const { return held_.tensor(); }

  /// Makes the update known to the other ranks, where they hold what this rank owns.
  void publish();

 private:
  void gather(const ShardUnit& unit);

  const Strategy& strategy_;
  const ShardGeometry& geometry_;
  const ModelSpec& model_;
  ProcessGroup& group_;
  Buffer held_;                     // Full layout if replicated, shard layout if sharded.
  std::optional<Buffer> gathered_;  // The full unit in use, if sharded.
};

}  // namespace shardscope
