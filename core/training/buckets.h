// Which gradients share a collective, and when each bucket is complete.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "core/nn/model.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"

namespace shardscope {

/// Consecutive tensors, whose gradients backward hands on last to first.
struct Bucket {
  static constexpr std::size_t kEndOfBackward = std::numeric_limits<std::size_t>::max();

  std::size_t first_tensor = 0;
  std::size_t last_tensor = 0;  ///< Included.
  std::size_t offset = 0;       ///< In torch order.
  std::size_t count = 0;        ///< Elements, without padding.
  LayerRange layers;

  /// The tensor whose gradient makes it certain that the bucket is full: its first one, or, where
  /// a bucket closes when the next tensor would exceed its size, that next one.
  std::size_t closed_by = 0;

  /// A tensor that is larger than a bucket and goes alone.
  bool oversize = false;
};

/// In the order in which backward completes them. `gradient_bytes` is the size of an element.
std::vector<Bucket> make_buckets(const BucketRule& rule, const ShardGeometry& geometry,
                                 std::size_t gradient_bytes);

}  // namespace shardscope
