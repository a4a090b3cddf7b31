// When sharded parameters are gathered and released: for every use of a layer in a micro-step, as
// data. A pure function of the strategy and the model.
#pragma once

#include <cstddef>
#include <vector>

#include "core/training/activation_checkpoints.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"

namespace shardscope {

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
