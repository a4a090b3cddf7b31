#include "core/training/gradient_reducer.h"

#include <algorithm>
#include <utility>

#include "core/tensor/kernels.h"

namespace shardscope {

GradientReducer::GradientReducer(const Strategy& strategy, const ShardGeometry& geometry,
                                 const ModelSpec& model, DType precision, DType reduce_precision,
                                 ProcessGroup& group)
    : strategy_(strategy),
      geometry_(geometry),
      model_(model),
      precision_(precision),
      reduce_precision_(reduce_precision),
      group_(group),
      kept_(group.device().memory(), Category::gradients, precision,
            strategy.gradients == Placement::sharded ? geometry.owned_elements()
                                                     : geometry.full_elements(),
            group.storage()),
      transient_(geometry.units().size()) {}

Tensor GradientReducer::begin(std::size_t layer) {
  const ShardUnit& unit = geometry_.unit_of(layer);
  const auto index = static_cast<std::size_t>(&unit - geometry_.units().data());
  if (strategy_.gradients == Placement::sharded && layer == unit.layers.last) {
    transient_[index] = Buffer(group_.device().memory(), Category::communication_buckets,
                               precision_, unit.full_count, group_.storage(), Contents::undefined);
    set_zero(transient_[index].slice(unit.count, unit.full_count - unit.count));  // Padding.
  }
  return unit_gradient(index).slice(geometry_.offset_in_unit(layer),
                                    model_.layer(layer).elements());
}

void GradientReducer::ready(std::size_t layer) {
  const ShardUnit& unit = geometry_.unit_of(layer);
  if (strategy_.reduction_time == ReductionTime::per_layer && layer == unit.layers.first) {
    reduce(static_cast<std::size_t>(&unit - geometry_.units().data()));
  }
}

void GradientReducer::finish() {
  if (strategy_.reduction_time == ReductionTime::after_backward) {
    for (std::size_t index = geometry_.units().size(); index-- > 0;) {
      reduce(index);
    }
  }
}

std::vector<Tensor> GradientReducer::owned() const {
  std::vector<Tensor> tensors;
  for (std::size_t index = 0; index < geometry_.units().size(); ++index) {
    tensors.push_back(owned_gradient(index));
  }
  return tensors;
}

Tensor GradientReducer::unit_gradient(std::size_t unit_index) const {
  const ShardUnit& unit = geometry_.units()[unit_index];
  return strategy_.gradients == Placement::sharded ? transient_[unit_index].tensor()
                                                   : kept_.slice(unit.full_offset, unit.full_count);
}

Tensor GradientReducer::owned_gradient(std::size_t unit_index) const {
  const ShardUnit& unit = geometry_.units()[unit_index];
  const std::size_t begin = strategy_.gradients == Placement::sharded
                                ? unit.owned_offset
                                : unit.full_offset + geometry_.owned_begin(unit, group_.rank());
  return kept_.slice(begin, unit.owned_count);
}

void GradientReducer::reduce(std::size_t unit_index) {
  const ShardUnit& unit = geometry_.units()[unit_index];
  const bool scattered = strategy_.reduction == Reduction::reduce_scatter;
  // An all_reduce leaves the padding out: it stays zero.
  Tensor sums = unit_gradient(unit_index).slice(0, scattered ? unit.full_count : unit.count);
  Buffer wire;  // The gradients in the type they are sent in, if it is another one.
  if (reduce_precision_ != precision_) {
    wire = Buffer(group_.device().memory(), Category::communication_buckets, reduce_precision_,
                  sums.count, group_.storage(), Contents::undefined);
    group_.device().compute("convert", convert_cost(sums.count, precision_, reduce_precision_));
    convert(wire.tensor(), sums);
    sums = wire.tensor();
  }
  const ChunkedTensor chunks({{sums, unit.shard}}, group_.world_size());
  const LayerRange layers = unit.layers;
  (scattered ? group_.reduce_scatter(chunks, layers) : group_.all_reduce(chunks, layers))->wait();

  const std::size_t begin = std::min(geometry_.owned_begin(unit, group_.rank()), sums.count);
  const Tensor mine = sums.slice(begin, std::min(unit.owned_count, sums.count - begin));
  const Tensor average = owned_gradient(unit_index).slice(0, mine.count);
  if (mine.count > 0) {
    group_.device().compute("average", average_cost(mine.count, mine.dtype, average.dtype));
  }
  divide(mine, static_cast<float>(group_.world_size()));
  if (average.data != mine.data) {
    convert(average, mine);
  }
  transient_[unit_index] = Buffer();
}

}  // namespace shardscope
