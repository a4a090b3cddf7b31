// The rows of a whole sweep, seen along its axes.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/sweep/row.h"
#include "sim/sweep/sweep.h"

namespace shardscope {

class Grid {
 public:
  /// Rows by task. Both arguments must outlive the grid.
  Grid(const Sweep& sweep, const std::vector<Row>& rows);

  const Sweep& sweep() const { return sweep_; }
  const Row& row(std::size_t point, std::size_t strategy) const {
    return rows_[point * sweep_.strategies.size() + strategy];
  }

  /// The points at which the axis has its first value: a line along it begins at each.
  std::vector<std::size_t> line_starts(std::size_t axis) const;

  /// The point with value `index` of the axis on a line.
  std::size_t on_line(std::size_t start, std::size_t axis, std::size_t index) const {
    return start + index * strides_[axis];
  }

  /// Indices of the axis's values, ascending if they are numbers, else as they were given.
  const std::vector<std::size_t>& ascending(std::size_t axis) const { return ascending_[axis]; }

 private:
  const Sweep& sweep_;
  const std::vector<Row>& rows_;
  std::vector<std::size_t> strides_;
  std::vector<std::vector<std::size_t>> ascending_;
};

}  // namespace shardscope
