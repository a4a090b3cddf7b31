// What a schedule costs on a cluster, by estimate.
#pragma once

#include <cstdint>

#include "core/collectives/rank_group.h"
#include "core/collectives/schedule.h"
#include "sim/topology/paths.h"

namespace shardscope {

/// Seconds, with all ranks in step: a round takes the longest latency of its messages and, over all
/// links, the longest that a link's bytes take at its bandwidth. Of many rounds only some are
/// looked at, evenly spaced, and stand for all. Elements are bytes.
double estimated_seconds(const Schedule& schedule, const RankGroup& group,
                         const ClusterPaths& paths);

}  // namespace shardscope
