// Who decides how collectives are carried out.
#pragma once

#include <cstdint>
#include <memory>

#include "core/collectives/plan.h"
#include "core/collectives/rank_group.h"

namespace shardscope {

class CollectivePlanner {
 public:
  virtual ~CollectivePlanner() = default;

  /// The plan for an operation of a group on a vector of so many bytes (all_gather,
  /// reduce_scatter: all chunks together; barrier: 0). A pure function, so that all ranks decide
  /// alike; called from several threads. Strategies sum alike bit for bit only if all_reduce and
  /// reduce_scatter of a group get the same plan.
  virtual std::shared_ptr<const CollectivePlan> plan(Operation operation, const RankGroup& group,
                                                     std::uint64_t bytes) const = 0;
};

/// One ring in rank order, whatever is asked.
const CollectivePlanner& ring_planner();

}  // namespace shardscope
