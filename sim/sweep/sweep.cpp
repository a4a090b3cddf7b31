#include "sim/sweep/sweep.h"

#include <algorithm>
#include <numeric>

#include "core/data/generator.h"

namespace shardscope {
namespace {

constexpr std::uint64_t kShardSeed = 1;

}  // namespace

std::string shard_words(const Shard& shard) {
  return "shard " + std::to_string(shard.index) + " of " + std::to_string(shard.count);
}

std::size_t Sweep::point_count() const {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
  }
  return count;
}

std::vector<std::size_t> Sweep::coordinates(std::size_t point) const {
  std::vector<std::size_t> indices(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    indices[a] = point % axes[a].values.size();
    point /= axes[a].values.size();
  }
  return indices;
}

std::vector<std::size_t> points_of_shard(const Sweep& sweep) {
  std::vector<std::size_t> points(sweep.point_count());
  std::iota(points.begin(), points.end(), std::size_t{0});
  const Shard& shard = sweep.shard;
  if (shard.count == 1) {
    return points;
  }
  std::sort(points.begin(), points.end(), [](std::size_t a, std::size_t b) {
    return splitmix64(kShardSeed, a) < splitmix64(kShardSeed, b);
  });
  std::vector<std::size_t> own;
  for (std::size_t i = shard.index - 1; i < points.size(); i += shard.count) {
    own.push_back(points[i]);
  }
  std::sort(own.begin(), own.end());
  return own;
}

std::vector<std::string> assignments(const Sweep& sweep, std::size_t point) {
  const std::vector<std::size_t> indices = sweep.coordinates(point);
  std::vector<std::string> result;
  result.reserve(sweep.axes.size());
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    const Axis& axis = sweep.axes[a];
    result.push_back(axis.field.path + "=" + axis.values[indices[a]].text);
  }
  return result;
}

}  // namespace shardscope
