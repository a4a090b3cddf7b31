// How far a collective as flows may be from the same by messages.
#pragma once

#include <cstddef>
#include <vector>

#include "core/collectives/rank_group.h"
#include "core/collectives/schedule.h"
#include "sim/topology/paths.h"

namespace shardscope {

/// Of a collective by messages, seconds from a moment at which all ranks begin.
struct MessageTime {
  double least_s = 0;
  double most_s = 0;
};

/// Groups of one size that run the schedule side by side. By stage: at least what its fastest edge
/// takes alone for its rounds; at most what its slowest edge takes at its max-min fair share while
/// no flow ever pauses. As flows it takes a time between them. Both are equal where all edges are
/// alike: then ranks stay in step, also from one collective to the next, and flows are exact.
MessageTime message_time(const Schedule& schedule, std::size_t element_bytes,
                         const std::vector<RankGroup>& groups, const ClusterPaths& paths);

}  // namespace shardscope
