// Who owns which parameters: the one place that knows shard offsets, sizes and padding.
//
// Parameters lie in torch order, layer after layer (W0, b0, W1, b1, ... of a perceptron). They are
// cut into units that are sharded whole: all tensors together, those of each layer, or each
// tensor. A unit of P_u elements is cut into shards of k_u = padding ceil(P_u / (padding N)),
// padded at its end to N k_u; rank r owns shard r of every unit. N counts the ranks of a shard
// group, and ranks are those inside it.
//
//   unit 0                      unit 1
//   | k_0 | k_0 | .. | k_0 pad | k_1 | k_1 | .. | k_1 pad |     "full" layout: N sum(k_u) elements
//   | k_0 | k_1 |                                               "shard" layout: sum(k_u) elements
//
// With owners of whole tensors each tensor is a unit without padding; the largest goes first to the
// rank that owns least (torch's ZeroRedundancyOptimizer), and a rank's shard layout holds what it
// owns. Where the optimizer is replicated nothing is sharded: no padding, every rank owns all.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/check.h"
#include "core/nn/model.h"
#include "core/training/strategy.h"

namespace shardscope {

struct ShardUnit {
  LayerRange layers;
  std::size_t first_tensor = 0;
  std::size_t last_tensor = 0;  ///< Included.
  std::size_t offset = 0;       ///< In torch order, without padding.
  std::size_t count = 0;        ///< P_u
  std::size_t shard = 0;        ///< k_u; P_u if it is not cut.
  std::size_t full_offset = 0;  ///< In the full layout.
  std::size_t full_count = 0;   ///< N k_u; P_u if it is not cut.
  std::optional<int> owner;     ///< With owners of whole tensors.
};

/// What one rank owns of a unit.
struct OwnedPart {
  std::size_t begin = 0;       ///< In the unit.
  std::size_t count = 0;       ///< Padding included.
  std::size_t parameters = 0;  ///< Without padding.
  std::size_t offset = 0;      ///< In the rank's shard layout.
};

class ShardGeometry {
 public:
  /// `ranks` is the size of a shard group.
  ShardGeometry(const Strategy& strategy, const ModelSpec& model, int ranks);

  const std::vector<ShardUnit>& units() const { return units_; }
  std::size_t unit_of_tensor(std::size_t tensor) const {
    SHARDSCOPE_CHECK(tensor < unit_of_tensor_.size(), "a tensor of the model");
    return unit_of_tensor_[tensor];
  }

  /// Whether a unit has no tensor of a layer that can be recomputed: of a transformer, what lies
  /// outside its blocks.
  bool is_outside_blocks(std::size_t unit) const { return is_outside_blocks_[unit]; }

  std::size_t tensor_count() const { return tensor_offsets_.size() - 1; }

  std::size_t layer_count() const { return units_used_by_.size(); }

  /// The tensors of a layer: the first, and that after the last.
  std::size_t first_tensor(std::size_t layer) const { return first_tensors_[layer]; }
  std::size_t end_tensor(std::size_t layer) const { return first_tensors_[layer + 1]; }
  std::size_t layer_of_tensor(std::size_t tensor) const { return layer_of_tensor_[tensor]; }

  /// Elements of a layer.
  std::size_t layer_elements(std::size_t layer) const {
    return tensor_offsets_[end_tensor(layer)] - tensor_offsets_[first_tensor(layer)];
  }

  /// Elements of a layer's gradient as backward writes it: those of its unit with their padding, or
  /// its own alone. None of a layer without tensors.
  std::size_t gradient_elements(std::size_t layer, bool whole_unit) const {
    return whole_unit && first_tensor(layer) < end_tensor(layer)
               ? units_[unit_of_tensor(first_tensor(layer))].full_count
               : layer_elements(layer);
  }

  /// The units that a layer computes with, each once: those of its tensors in their order, then,
  /// with a tied output, that of the first tensor for the last layer.
  const std::vector<std::size_t>& units_used_by(std::size_t layer) const {
    return units_used_by_[layer];
  }

  /// Where a tensor begins in torch order, and how long it is.
  std::size_t tensor_offset(std::size_t tensor) const { return tensor_offsets_[tensor]; }
  std::size_t tensor_elements(std::size_t tensor) const {
    return tensor_offsets_[tensor + 1] - tensor_offsets_[tensor];
  }

  /// Where a tensor begins inside its unit.
  std::size_t offset_in_unit(std::size_t tensor) const {
    return tensor_offsets_[tensor] - units_[unit_of_tensor_[tensor]].offset;
  }

  /// Elements of the full layout, and of a rank's shard layout.
  std::size_t full_elements() const { return full_elements_; }
  std::size_t owned_elements(int rank) const;

  OwnedPart owned(std::size_t unit, int rank) const;

 private:
  void add_unit(std::size_t first_tensor, std::size_t last_tensor, const Strategy& strategy);
  void add_tensors(const ModelSpec& model);
  void find_uses(const ModelSpec& model);
  void assign_owners();

  int ranks_;
  bool sharded_;
  std::vector<std::size_t> tensor_offsets_;  // And P.
  std::vector<std::size_t> first_tensors_;   // By layer, and tensor_count().
  std::vector<std::size_t> layer_of_tensor_;
  std::vector<std::vector<std::size_t>> units_used_by_;
  std::vector<bool> is_outside_blocks_;
  std::vector<ShardUnit> units_;
  std::vector<std::size_t> unit_of_tensor_;
  std::vector<std::size_t> shard_offsets_;   // Of units: in their rank's shard layout.
  std::vector<std::size_t> owned_elements_;  // By rank with owners, else one for all.
  std::size_t full_elements_ = 0;
};

}  // namespace shardscope
