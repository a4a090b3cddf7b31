// A platform made of a topology.
#pragma once

#include <memory>

#include "sim/cluster/platform.h"

namespace shardscope {

/// Of the scenario's topology_of(cluster).
std::unique_ptr<Platform> make_graph_platform(const Scenario& scenario);

}  // namespace shardscope
