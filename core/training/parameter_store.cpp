#include "core/training/parameter_store.h"

#include "core/check.h"
#include "core/tensor/kernels.h"

namespace shardscope {

ParameterStore::ParameterStore(const Strategy& strategy, const ShardGeometry& geometry,
                               const ModelSpec& model, DType precision, ProcessGroup& group,
                               const WeightSource& source)
    : strategy_(strategy), geometry_(geometry), model_(model), group_(group) {
  const bool sharded = strategy.parameters == Placement::sharded;
  held_ = Buffer(group.device().memory(), Category::parameters, precision,
                 sharded ? geometry.owned_elements() : geometry.full_elements(), group.storage(),
                 Contents::undefined);
  const auto fill = [&](std::size_t begin, std::size_t parameters, Tensor held) {
    read_parameters(source, model, begin, held.slice(0, parameters));
    set_zero(held.slice(parameters, held.count - parameters));  // Padding.
  };
  for (const ShardUnit& unit : geometry.units()) {
    if (sharded) {
      fill(unit.offset + geometry.owned_begin(unit, group.rank()),
           geometry.owned_parameters(unit, group.rank()),
           held_.slice(unit.owned_offset, unit.owned_count));
    } else {
      fill(unit.offset, unit.count, held_.slice(unit.full_offset, unit.full_count));
    }
  }
}

Tensor ParameterStore::acquire(std::size_t layer) {
  const ShardUnit& unit = geometry_.unit_of(layer);
  const std::size_t elements = model_.layer(layer).elements();
  if (strategy_.parameters == Placement::replicated) {
    return held_.slice(unit.full_offset + geometry_.offset_in_unit(layer), elements);
  }
  gather(unit);
  return gathered_->slice(geometry_.offset_in_unit(layer), elements);
}

void ParameterStore::gather(const ShardUnit& unit) {
  SHARDSCOPE_CHECK(!gathered_.has_value(), "a unit is gathered while another one is in use");
  const Tensor held = held_.tensor();
  gathered_.emplace(group_.device().memory(), Category::gathered_parameters, held.dtype,
                    unit.full_count, group_.storage(), Contents::undefined);
  convert(gathered_->slice(geometry_.owned_begin(unit, group_.rank()), unit.owned_count),
          held.slice(unit.owned_offset, unit.owned_count));
  group_.all_gather(ChunkedTensor::even(gathered_->tensor(), group_.world_size()), unit.layers)
      ->wait();
}

void ParameterStore::release(std::size_t /*layer*/) { gathered_.reset(); }

std::vector<Tensor> ParameterStore::owned() const {
  std::vector<Tensor> tensors;
  for (const ShardUnit& unit : geometry_.units()) {
    const std::size_t begin = strategy_.parameters == Placement::sharded
                                  ? unit.owned_offset
                                  : unit.full_offset + geometry_.owned_begin(unit, group_.rank());
    tensors.push_back(held_.slice(begin, unit.owned_count));
  }
  return tensors;
}

void ParameterStore::publish() {
  if (strategy_.parameters == Placement::sharded || strategy_.optimizer == Placement::replicated) {
    return;
  }
  std::vector<ChunkedTensor::Part> shards;
  for (const ShardUnit& unit : geometry_.units()) {
    shards.push_back({held_.slice(unit.full_offset, unit.full_count), unit.shard});
  }
  const LayerRange layers{0, model_.layer_count() - 1};
  group_.all_gather(ChunkedTensor(std::move(shards), group_.world_size()), layers)->wait();
}

}  // namespace shardscope
