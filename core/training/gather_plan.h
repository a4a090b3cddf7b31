// When sharded parameters are gathered and released: for every use of a layer in a micro-step, as
// data. A pure function of the strategy and the model.
#pragma once

#include <cstddef>
#include <vector>

#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"

namespace shardscope {

/// A use of a layer's parameters. Recomputation is part of backward's pass.
struct LayerUse {
  enum class Kind { forward, recompute, backward };
  std::size_t layer = 0;
  Kind kind = Kind::forward;
};

/// The uses of a micro-step in their order: forward; then backward, last layer to first, with the
/// forward of every `checkpointing` layers again before their backward (0: never).
std::vector<LayerUse> layer_uses(std::size_t layers, std::size_t checkpointing);

/// Around one use, units of the geometry.
struct GatherStep {
  std::vector<std::size_t> fetch;                  ///< One all_gather, waited for.
  std::vector<std::vector<std::size_t>> prefetch;  ///< An all_gather each, begun before computing.
  std::vector<std::size_t> release;                ///< After computing.
};

/// Units that every rank holds whole beside its shard.
bool is_persistent(const Strategy& strategy, const ShardUnit& unit);

/// One step per use. `first_step`: no trace has been recorded yet (GatherOptions::traced). At its
/// end nothing is gathered but what is persistent. Empty if parameters are replicated.
std::vector<GatherStep> make_gather_plan(const Strategy& strategy, const ShardGeometry& geometry,
                                         const std::vector<LayerUse>& uses, bool first_step);

}  // namespace shardscope
