#include "sim/sweep/grid.h"

#include <algorithm>
#include <numeric>

namespace shardscope {

Grid::Grid(const Sweep& sweep, const std::vector<Row>& rows)
    : sweep_(sweep), rows_(rows), strides_(sweep.axes.size()), ascending_(sweep.axes.size()) {
  std::size_t stride = 1;
  for (std::size_t a = sweep.axes.size(); a-- > 0;) {
    const Axis& axis = sweep.axes[a];
    strides_[a] = stride;
    stride *= axis.values.size();
    ascending_[a].resize(axis.values.size());
    std::iota(ascending_[a].begin(), ascending_[a].end(), std::size_t{0});
    if (axis.is_numeric()) {
      std::sort(ascending_[a].begin(), ascending_[a].end(), [&](std::size_t i, std::size_t j) {
        return axis.values[i].number < axis.values[j].number;
      });
    }
  }
}

std::vector<std::size_t> Grid::line_starts(std::size_t axis) const {
  const std::size_t size = sweep_.axes[axis].values.size();
  std::vector<std::size_t> starts;
  const std::size_t count = sweep_.point_count();
  starts.reserve(count / size);
  for (std::size_t point = 0; point < count; ++point) {
    if (point / strides_[axis] % size == 0) {
      starts.push_back(point);
    }
  }
  return starts;
}

}  // namespace shardscope
