#include "core/training/shard_geometry.h"

#include <algorithm>
#include <numeric>

namespace shardscope {

ShardGeometry::ShardGeometry(const Strategy& strategy, const ModelSpec& model, int ranks)
    : ranks_(ranks), sharded_(strategy.has_shards()), tensor_offsets_{0}, first_tensors_{0} {
  add_tensors(model);
  switch (strategy.partition) {
    case Partition::model:
      add_unit(0, tensor_count() - 1, strategy);
      break;
    case Partition::layer:
      for (std::size_t l = 0; l < model.layer_count(); ++l) {
        add_unit(first_tensor(l), end_tensor(l) - 1, strategy);
      }
      break;
    case Partition::tensor:
    case Partition::tensor_owner:
      for (std::size_t tensor = 0; tensor < tensor_count(); ++tensor) {
        add_unit(tensor, tensor, strategy);
      }
      break;
  }
  find_uses(model);
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

void ShardGeometry::add_tensors(const ModelSpec& model) {
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    for (const std::size_t elements : model.tensors(l)) {
      tensor_offsets_.push_back(tensor_offsets_.back() + elements);
      layer_of_tensor_.push_back(l);
    }
    first_tensors_.push_back(tensor_count());
  }
}

void ShardGeometry::find_uses(const ModelSpec& model) {
  for (const ShardUnit& unit : units_) {
    bool is_outside = true;
    for (std::size_t l = unit.layers.first; l <= unit.layers.last; ++l) {
      is_outside = is_outside && !model.can_be_recomputed(l);
    }
    is_outside_blocks_.push_back(is_outside);
  }
  units_used_by_.resize(first_tensors_.size() - 1);
  const auto add = [&](std::size_t layer, std::size_t unit) {
    std::vector<std::size_t>& used = units_used_by_[layer];
    if (std::find(used.begin(), used.end(), unit) == used.end()) {
      used.push_back(unit);
    }
  };
  for (std::size_t tensor = 0; tensor < tensor_count(); ++tensor) {
    add(layer_of_tensor(tensor), unit_of_tensor(tensor));
  }
  if (model.has_tied_output()) {
    add(units_used_by_.size() - 1, unit_of_tensor(0));
  }
}

void ShardGeometry::add_unit(std::size_t first_tensor, std::size_t last_tensor,
                             const Strategy& strategy) {
  ShardUnit unit;
  unit.layers = {layer_of_tensor(first_tensor), layer_of_tensor(last_tensor)};
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
