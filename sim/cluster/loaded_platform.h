// A platform that SimGrid loads from a file: its zones, routes, sharing policies and profiles are
// SimGrid's own.
#pragma once

#include <memory>

#include "sim/cluster/platform.h"

namespace shardscope {

/// Of the scenario's cluster.platform. Latencies are taken from the links and waited for by
/// receivers, as everywhere.
std::unique_ptr<Platform> make_loaded_platform(const Scenario& scenario);

}  // namespace shardscope
