#include "core/training/parameter_store.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/tensor/kernels.h"

namespace shardscope {

ParameterStore::ParameterStore(const Strategy& strategy, const ShardGeometry& geometry,
                               DType precision, std::vector<LayerUse> uses, ProcessGroup& group,
                               const Reader& read)
    : strategy_(strategy),
      geometry_(geometry),
      uses_(std::move(uses)),
      group_(group),
      first_plan_(make_gather_plan(strategy, geometry, uses_, /*first_step=*/true)),
      later_plan_(make_gather_plan(strategy, geometry, uses_, /*first_step=*/false)),
      held_(group.device().memory(), Category::parameters, precision,
            is_sharded() ? geometry.owned_elements(group.rank()) : geometry.full_elements(),
            group.storage(), Contents::undefined),
      gathered_(is_sharded() ? geometry.units().size() : 0) {
  const auto fill = [&](std::size_t begin, std::size_t parameters, Tensor held) {
    read(begin, held.slice(0, parameters));
    set_zero(held.slice(parameters, held.count - parameters));  // Padding.
  };
  for (std::size_t u = 0; u < geometry.units().size(); ++u) {
    const ShardUnit& unit = geometry.units()[u];
    if (!is_sharded()) {
      fill(unit.offset, unit.count, held_.slice(unit.full_offset, unit.full_count));
      continue;
    }
    const OwnedPart own = geometry.owned(u, group.rank());
    fill(unit.offset + own.begin, own.parameters, held_.slice(own.offset, own.count));
    if (is_persistent(strategy, unit)) {
      persistent_.push_back(u);
      allocate(u);
      fill(unit.offset, unit.count, gathered_[u].tensor());
    }
  }
}

void ParameterStore::begin_micro_step() { use_ = 0; }

std::vector<Tensor> ParameterStore::acquire() {
  const std::size_t layer = uses_[use_].layer;
  if (is_sharded()) {
    const GatherStep& step = plan_step();
    if (!step.fetch.empty()) {
      under_way_.push_back(begin_gather(step.fetch));
    }
    for (const std::size_t unit : geometry_.units_used_by(layer)) {
      wait_for(unit);
    }
    for (const std::vector<std::size_t>& units : step.prefetch) {
      under_way_.push_back(begin_gather(units));
    }
  }
  std::vector<Tensor> tensors;
  for (std::size_t t = geometry_.first_tensor(layer); t < geometry_.end_tensor(layer); ++t) {
    tensors.push_back(tensor(t));
  }
  return tensors;
}

void ParameterStore::release() {
  if (is_sharded()) {
    for (const std::size_t unit : plan_step().release) {
      gathered_[unit] = Buffer();
    }
  }
  ++use_;
}

void ParameterStore::allocate(std::size_t unit) {
  gathered_[unit] =
      Buffer(group_.device().memory(), Category::gathered_parameters, held_.tensor().dtype,
             geometry_.units()[unit].full_count, group_.storage(), Contents::undefined);
}

void ParameterStore::copy_own_shard(std::size_t unit) {
  const OwnedPart own = geometry_.owned(unit, group_.rank());
  convert(gathered_[unit].slice(own.begin, own.count), held_.slice(own.offset, own.count));
}

ParameterStore::Gather ParameterStore::begin_gather(const std::vector<std::size_t>& units) {
  std::vector<ChunkedTensor::Part> parts;
  LayerRange layers = geometry_.units()[units.front()].layers;
  for (const std::size_t unit : units) {
    if (gathered_[unit].size() == 0) {
      allocate(unit);
    }
    copy_own_shard(unit);
    parts.push_back({gathered_[unit].tensor(), geometry_.units()[unit].shard});
    layers.first = std::min(layers.first, geometry_.units()[unit].layers.first);
    layers.last = std::max(layers.last, geometry_.units()[unit].layers.last);
  }
  return {units, group_.all_gather(ChunkedTensor(std::move(parts), group_.world_size()), layers)};
}

void ParameterStore::wait_for(std::size_t unit) {
  const auto found = std::find_if(under_way_.begin(), under_way_.end(), [&](const Gather& gather) {
    return std::find(gather.units.begin(), gather.units.end(), unit) != gather.units.end();
  });
  if (found != under_way_.end()) {
    found->work->wait();
    under_way_.erase(found);
  }
}

Tensor ParameterStore::tensor(std::size_t tensor) const {
  const std::size_t index = geometry_.unit_of_tensor(tensor);
  const std::size_t offset = geometry_.offset_in_unit(tensor);
  const std::size_t elements = geometry_.tensor_elements(tensor);
  return is_sharded() ? gathered_[index].slice(offset, elements)
                      : held_.slice(geometry_.units()[index].full_offset + offset, elements);
}

std::vector<Tensor> ParameterStore::owned() const {
  std::vector<Tensor> tensors;
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    const OwnedPart own = geometry_.owned(u, group_.rank());
    const std::size_t begin =
        is_sharded() ? own.offset : geometry_.units()[u].full_offset + own.begin;
    tensors.push_back(held_.slice(begin, own.count));
  }
  return tensors;
}

void ParameterStore::end_step() { is_first_step_ = false; }

void ParameterStore::publish() {
  if (is_sharded()) {
    if (!persistent_.empty()) {
      begin_gather(persistent_).work->wait();
    }
  } else if (strategy_.partition == Partition::tensor_owner) {
    publish_by_broadcast();
  } else if (strategy_.has_shards()) {
    publish_shards();
  }
}

void ParameterStore::publish_shards() {
  std::vector<ChunkedTensor::Part> shards;
  for (const ShardUnit& unit : geometry_.units()) {
    shards.push_back({held_.slice(unit.full_offset, unit.full_count), unit.shard});
  }
  const LayerRange layers{0, geometry_.units().back().layers.last};
  group_.all_gather(ChunkedTensor(std::move(shards), group_.world_size()), layers)->wait();
}

void ParameterStore::publish_by_broadcast() {
  std::vector<std::unique_ptr<Work>> broadcasts;
  for (const ShardUnit& unit : geometry_.units()) {
    broadcasts.push_back(group_.broadcast(
        ChunkedTensor::even(held_.slice(unit.full_offset, unit.full_count), group_.world_size()),
        *unit.owner, unit.layers));
  }
  for (const auto& broadcast : broadcasts) {
    broadcast->wait();
  }
}

}  // namespace shardscope
