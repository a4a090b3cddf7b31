#include "core/training/shard_geometry.h"

#include <algorithm>

#include "core/collectives/schedule.h"

namespace shardscope {

ShardGeometry::ShardGeometry(const Strategy& strategy, const ModelSpec& model, int world_size)
    : sharded_(strategy.optimizer == Placement::sharded) {
  const std::size_t layers = model.layer_count();
  for (std::size_t l = 0, offset = 0; l < layers; offset += model.layer(l).elements(), ++l) {
    layer_offsets_.push_back(offset);
  }
  const std::size_t layers_per_unit =
      strategy.reduction_time == ReductionTime::per_layer ? 1 : layers;
  for (std::size_t first = 0; first < layers; first += layers_per_unit) {
    ShardUnit unit;
    unit.layers.first = first;
    unit.layers.last = first + layers_per_unit - 1;
    unit.offset = layer_offsets_[first];
    unit.count =
        layer_offsets_[unit.layers.last] + model.layer(unit.layers.last).elements() - unit.offset;
    unit.shard = Chunking::even(unit.count, world_size).chunk;
    unit.full_count = sharded_ ? unit.shard * static_cast<std::size_t>(world_size) : unit.count;
    unit.owned_count = sharded_ ? unit.shard : unit.count;
    unit.full_offset = full_elements_;
    unit.owned_offset = owned_elements_;
    full_elements_ += unit.full_count;
    owned_elements_ += unit.owned_count;
    unit_of_layer_.insert(unit_of_layer_.end(), layers_per_unit, units_.size());
    units_.push_back(unit);
  }
}

const ShardUnit& ShardGeometry::unit_of(std::size_t layer) const {
  return units_[unit_of_layer_[layer]];
}

std::size_t ShardGeometry::offset_in_unit(std::size_t layer) const {
  return layer_offsets_[layer] - unit_of(layer).offset;
}

std::size_t ShardGeometry::owned_begin(const ShardUnit& unit, int rank) const {
  return sharded_ ? static_cast<std::size_t>(rank) * unit.shard : 0;
}

std::size_t ShardGeometry::owned_parameters(const ShardUnit& unit, int rank) const {
  const std::size_t begin = owned_begin(unit, rank);
  return std::min(begin + unit.owned_count, unit.count) - std::min(begin, unit.count);
}

}  // namespace shardscope
