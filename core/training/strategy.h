// A data-parallel strategy: a choice in three places of the one training step.
#pragma once

#include <string_view>
#include <vector>

namespace shardscope {

/// Whether every rank holds a thing whole, or each rank its shard of it.
enum class Placement { replicated, sharded };

/// The collective that sums gradients.
enum class Reduction { all_reduce, reduce_scatter };

/// When gradients are reduced: all together after backward, or layer by layer during it.
enum class ReductionTime { after_backward, per_layer };

struct Strategy {
  std::string_view name;  ///< As in scenario files, e.g. "ZERO1".
  Placement parameters;   ///< Sharded: gathered per layer before each use, released after it.
  Reduction reduction;
  ReductionTime reduction_time;
  Placement gradients;  ///< What is kept until the update.
  Placement optimizer;  ///< What the optimizer owns. Sharded with replicated parameters: an
                        ///< all_gather publishes the update.
};

/// Every strategy there is, in the order reports list them. To add one, add a row in strategy.cpp.
const std::vector<Strategy>& all_strategies();

/// The strategy of that name, or null.
const Strategy* find_strategy(std::string_view name);

}  // namespace shardscope
