// Where the elements of states and of chunks lie among a story's columns.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/nn/model.h"
#include "core/training/shard_geometry.h"
#include "sim/explain/step_log.h"
#include "sim/explain/story.h"

namespace shardscope {

class Layout {
 public:
  using Values = ElementValues;

  Layout(const Strategy& strategy, const ModelSpec& model, int world_size);

  const ShardGeometry& geometry() const { return geometry_; }
  const std::vector<Column>& columns() const { return columns_; }

  /// The columns [first, last) of a collective's data.
  std::pair<std::size_t, std::size_t> columns_of(const CollectiveLog& log) const;

  /// A rank's state in the full or in the shard layout.
  Values spread_state(const std::vector<float>& state, int rank) const;

  /// Without what the rank does not own.
  Values only_owned(Values values, int rank) const;

  /// Chunks of a collective's data; those that are empty are left out.
  Values spread_chunks(const CollectiveLog& log,
                       const std::vector<std::vector<float>>& chunks) const;
  Values spread_chunk(const CollectiveLog& log, int chunk, const std::vector<float>& values) const;

 private:
  void add_unit(const ShardUnit& unit, const ModelSpec& model);
  void put_chunk(const CollectiveLog& log, int chunk, const std::vector<float>& values,
                 Values& into) const;

  ShardGeometry geometry_;
  std::vector<Column> columns_;
};

}  // namespace shardscope
