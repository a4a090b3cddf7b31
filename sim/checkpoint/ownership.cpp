#include "sim/checkpoint/ownership.h"

#include <cstddef>
#include <utility>

#include "core/training/shard_geometry.h"

namespace shardscope {

Ownership owned_ranges(const Strategy& strategy, const ModelSpec& model, int world_size) {
  const int group = shard_group_ranks(strategy, world_size);
  const ShardGeometry geometry(strategy, model, group);
  // The first group is that of the first ranks; the others hold replicas of its shards.
  const int owners = strategy.has_shards() ? group : 1;
  Ownership ownership(static_cast<std::size_t>(world_size));
  for (int rank = 0; rank < owners; ++rank) {
    std::vector<ElementRange>& ranges = ownership[static_cast<std::size_t>(rank)];
    for (std::size_t u = 0; u < geometry.units().size(); ++u) {
      const OwnedPart part = geometry.owned(u, rank);
      const std::size_t begin = geometry.units()[u].offset + part.begin;
      ranges.push_back({begin, begin + part.parameters});
    }
    ranges = joined_ranges(std::move(ranges));
  }
  return ownership;
}

}  // namespace shardscope
