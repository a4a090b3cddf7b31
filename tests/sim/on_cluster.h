// Ranks that send messages over a simulated cluster, without a training.
#pragma once

#include <functional>
#include <vector>

#include "core/collectives/transport.h"
#include "sim/process/child.h"
#include "sim/scenario/cluster.h"

namespace shardscope::testing {

using RankBody = std::function<double(int rank, Transport& transport)>;

/// Every rank of the cluster runs the body on its host, in a process of its own; what the bodies
/// returned, by rank, as bytes.
ChildResult try_on_cluster(const Cluster& cluster, const RankBody& body);

/// The same; a process that dies fails the test.
std::vector<double> on_cluster(const Cluster& cluster, const RankBody& body);

}  // namespace shardscope::testing
