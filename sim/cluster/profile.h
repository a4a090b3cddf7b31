// Hosts and links that change at certain dates: SimGrid's availability profiles.
#pragma once

#include <simgrid/forward.h>

#include <vector>

#include "sim/scenario/cluster.h"

namespace shardscope {

/// Call before they are sealed; nothing is set where nothing changes. A host's own speed is that of
/// `speed.speed`.
void set_profile(simgrid::s4u::Host& host, const RankSpeed& speed);
void set_profile(simgrid::s4u::Link& link, const std::vector<BandwidthChange>& changes);

}  // namespace shardscope
