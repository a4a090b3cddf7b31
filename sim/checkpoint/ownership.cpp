#include "sim/checkpoint/ownership.h"

#include "core/training/shard_geometry.h"

namespace shardscope {

Ownership owned_ranges(const Strategy& strategy, const ModelSpec& model, int world_size) {
  const ShardGeometry geometry(strategy, model, world_size);
  const int owners = strategy.optimizer == Placement::sharded ? world_size : 1;
  Ownership ownership(static_cast<std::size_t>(world_size));
  for (int rank = 0; rank < owners; ++rank) {
    std::vector<ElementRange>& ranges = ownership[static_cast<std::size_t>(rank)];
    for (const ShardUnit& unit : geometry.units()) {
      const std::size_t begin = unit.offset + geometry.owned_begin(unit, rank);
      ranges.push_back({begin, begin + geometry.owned_parameters(unit, rank)});
    }
    ranges = joined_ranges(std::move(ranges));
  }
  return ownership;
}

}  // namespace shardscope
