#include "core/training/shard_geometry.h"

#include <algorithm>
#include <numeric>

namespace shardscope {
namespace {

// Tensors of a unit.
std::size_t tensors_per_unit(Partition partition, std::size_t tensors) {
  switch (partition) {
    case Partition::model:
      return tensors;
    case Partition::layer:
      return 2;
    case Partition::tensor:
    case Partition::tensor_owner:
      return 1;
  }
  return tensors;
}

}  // namespace

ShardGeometry::ShardGeometry(const Strategy& strategy, const ModelSpec& model, int ranks)
    : ranks_(ranks), sharded_(strategy.has_shards()), tensor_offsets_{0} {
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    const LinearShape shape = model.layer(l);
    tensor_offsets_.push_back(tensor_offsets_.back() + shape.weight_elements());
    tensor_offsets_.push_back(tensor_offsets_.back() + shape.out);
  }
  const std::size_t step = tensors_per_unit(strategy.partition, tensor_count());
  for (std::size_t first = 0; first < tensor_count(); first += step) {
    add_unit(first, first + step - 1, strategy);
  }
  if (strategy.partition == Partition::tensor_owner) {
    assign_owners();
    return;
  }
  owned_elements_.assign(1, 0);
  for (const ShardUnit& unit : units_) {
    shard_offsets_.push_back(owned_elements_.front());
    owned_elements_.front() += unit.shard;
  }
}

void ShardGeometry::add_unit(std::size_t first_tensor, std::size_t last_tensor,
                             const Strategy& strategy) {
  ShardUnit unit;
  unit.layers = {first_tensor / 2, last_tensor / 2};
  unit.first_tensor = first_tensor;
  unit.last_tensor = last_tensor;
  unit.offset = tensor_offsets_[first_tensor];
  unit.count = tensor_offsets_[last_tensor + 1] - unit.offset;
  const bool cut = sharded_ && strategy.partition != Partition::tensor_owner;
  const std::size_t whole = strategy.padding * static_cast<std::size_t>(ranks_);
  unit.shard = cut ? strategy.padding * ((unit.count + whole - 1) / whole) : unit.count;
  unit.full_count = cut ? unit.shard * static_cast<std::size_t>(ranks_) : unit.count;
  unit.full_offset = full_elements_;
  full_elements_ += unit.full_count;
  unit_of_tensor_.insert(unit_of_tensor_.end(), last_tensor - first_tensor + 1, units_.size());
  units_.push_back(unit);
}

void ShardGeometry::assign_owners() {
  std::vector<std::size_t> by_size(units_.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return units_[a].count > units_[b].count; });
  std::vector<std::size_t> owned(static_cast<std::size_t>(ranks_), 0);
  for (const std::size_t index : by_size) {
    const auto least = std::min_element(owned.begin(), owned.end());
    units_[index].owner = static_cast<int>(least - owned.begin());
    *least += units_[index].count;
  }
  owned_elements_.assign(owned.size(), 0);
  for (const ShardUnit& unit : units_) {
    std::size_t& elements = owned_elements_[static_cast<std::size_t>(*unit.owner)];
    shard_offsets_.push_back(elements);
    elements += unit.count;
  }
}

std::size_t ShardGeometry::owned_elements(int rank) const {
  return owned_elements_.size() == 1 ? owned_elements_.front()
                                     : owned_elements_[static_cast<std::size_t>(rank)];
}

OwnedPart ShardGeometry::owned(std::size_t index, int rank) const {
  const ShardUnit& unit = units_[index];
  if (unit.owner.has_value()) {
    if (*unit.owner != rank) {
      return {};
    }
    return {
        .begin = 0, .count = unit.count, .parameters = unit.count, .offset = shard_offsets_[index]};
  }
  const std::size_t begin = sharded_ ? static_cast<std::size_t>(rank) * unit.shard : 0;
  return {.begin = begin,
          .count = unit.shard,
          .parameters = std::min(begin + unit.shard, unit.count) - std::min(begin, unit.count),
          .offset = shard_offsets_[index]};
}

}  // namespace shardscope
