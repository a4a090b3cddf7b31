// What a sweep consists of: its axes and strategies, the order of its points, and which of them a
// shard has. It is all that its results are read with; the scenario itself is not in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/sweep/axis.h"

namespace shardscope {

/// Part `index` of `count`, from 1.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

/// "shard 2 of 8".
std::string shard_words(const Shard& shard);

struct Sweep {
  std::string version;          ///< Of the program.
  std::string name;             ///< Of the scenario.
  std::string scenario_digest;  ///< Of the first point without faults.
  std::string arithmetic;       ///< "REAL", "NONE", or "REAL and NONE" where it is an axis.
  /// The fields that --set gave, with their values as they were written. They count by the digest
  /// alone; here they are in order to say why it is another.
  std::map<std::string, std::string> set;
  std::vector<Axis> axes;
  std::vector<std::string> strategies;
  Shard shard;

  /// Points of all shards: all combinations of the axes' values, the last axis varying fastest.
  std::size_t point_count() const;

  /// A task is a point with one strategy: number point x strategies + strategy. A row is its
  /// result.
  std::size_t task_count() const { return point_count() * strategies.size(); }

  /// Indices into the axes' values.
  std::vector<std::size_t> coordinates(std::size_t point) const;
};

/// The points of the sweep's shard, ascending. Neighbours go to different shards in an order that
/// has nothing to do with the axes, so that no shard gets all the large clusters; sizes differ by
/// one at most.
std::vector<std::size_t> points_of_shard(const Sweep& sweep);

/// FIELD=VALUE for each axis at a point.
std::vector<std::string> assignments(const Sweep& sweep, std::size_t point);

}  // namespace shardscope
