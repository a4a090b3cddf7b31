// Where the elements of states lie among a story's columns: the full layout of the shard geometry.
#pragma once

#include <cstddef>
#include <vector>

#include "core/nn/model.h"
#include "core/training/shard_geometry.h"
#include "sim/explain/story.h"

namespace shardscope {

class Layout {
 public:
  using Values = ElementValues;

  Layout(const Strategy& strategy, const ModelSpec& model, int world_size);

  const ShardGeometry& geometry() const { return geometry_; }
  const std::vector<Column>& columns() const { return columns_; }

  /// Ranks of a shard group, and a rank's place in its group.
  int group_size() const { return group_size_; }
  int group_rank(int rank) const { return rank % group_size_; }

  /// The columns of elements [begin, begin + count) in torch order, of a shard of a unit, and of
  /// all that a rank owns, unit by unit.
  std::vector<std::size_t> parameters(std::size_t begin, std::size_t count) const;
  std::vector<std::size_t> shard(std::size_t unit, int group_rank) const;
  std::vector<std::size_t> owned(int group_rank) const;

  /// As ElementTable::chunks: the parts that have one owner.
  std::vector<std::size_t> owners() const;

  /// A rank's state in the full or in the shard layout.
  Values spread_state(const std::vector<float>& state, int rank) const;

  /// Without what the rank does not own.
  Values only_owned(Values values, int rank) const;

 private:
  void add_unit(const ShardUnit& unit);

  int group_size_;
  ShardGeometry geometry_;
  std::vector<Column> columns_;
};

}  // namespace shardscope
