// Who owns which parameters: the one place that knows shard offsets, sizes and padding.
//
// Parameters lie in torch order (W0, b0, W1, b1, ...) and are cut into units that are reduced and
// gathered whole: all layers together, or each layer. A unit of P_u elements is cut into shards of
// k_u = ceil(P_u / N), padded at its end to N k_u; rank r owns shard r of every unit.
//
//   unit 0                      unit 1
//   | k_0 | k_0 | .. | k_0 pad | k_1 | k_1 | .. | k_1 pad |     "full" layout: N sum(k_u) elements
//   | k_0 | k_1 |                                               "shard" layout: sum(k_u) elements
//
// Where the optimizer is replicated (ddp) nothing is sharded: one unit, no padding, all of it
// owned.
#pragma once

#include <cstddef>
#include <vector>

#include "core/nn/model.h"
#include "core/training/strategy.h"

namespace shardscope {

struct ShardUnit {
  LayerRange layers;
  std::size_t offset = 0;        ///< In torch order, without padding.
  std::size_t count = 0;         ///< P_u
  std::size_t shard = 0;         ///< k_u
  std::size_t full_offset = 0;   ///< In the full layout.
  std::size_t full_count = 0;    ///< N k_u; P_u if unpadded.
  std::size_t owned_offset = 0;  ///< In the shard layout.
  std::size_t owned_count = 0;   ///< k_u; P_u if unpadded.
};

class ShardGeometry {
 public:
  ShardGeometry(const Strategy& strategy, const ModelSpec& model, int world_size);

  const std::vector<ShardUnit>& units() const { return units_; }
  const ShardUnit& unit_of(std::size_t layer) const;

  /// Elements of the full and of the shard layout.
  std::size_t full_elements() const { return full_elements_; }
  std::size_t owned_elements() const { return owned_elements_; }

  /// Where a layer begins inside its unit.
  std::size_t offset_in_unit(std::size_t layer) const;

  /// Where the rank's owned part begins inside a unit.
  std::size_t owned_begin(const ShardUnit& unit, int rank) const;

  /// How many of the rank's owned elements of a unit are parameters; the rest is padding.
  std::size_t owned_parameters(const ShardUnit& unit, int rank) const;

 private:
  bool sharded_;
  std::vector<std::size_t> layer_offsets_;
  std::vector<ShardUnit> units_;
  std::vector<std::size_t> unit_of_layer_;
  std::size_t full_elements_ = 0;
  std::size_t owned_elements_ = 0;
};

}  // namespace shardscope
